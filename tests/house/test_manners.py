"""What every tracked file owes its reader."""

import ast
import re

from support.repository import ROOT, functions, python_files, tracked

# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:wor" + r"k|hom" + r"e|roo" + r"t|User" + r"s)/\w")
REGISTRY = re.compile(
    "|".join((r"pypi\.or" + "g", r"pythonhoste" + "d", r"npmjs\.or" + "g", r"--extra-inde" + "x"))
)


def test_every_test_says_in_a_docstring_what_it_promises() -> None:
    """A failing test tells in one sentence what no longer holds."""
    silent = [
        f"{file.relative_to(ROOT)}:{function.lineno} {function.name}"
        for file in python_files("tests")
        if file.name.startswith("test_")
        for function in functions(file)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_no_file_names_a_path_of_one_machine_or_a_registry() -> None:
    """The repository works wherever it is checked out and whatever index pip is told to use."""
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for file in tracked()
        for number, line in enumerate(file.read_bytes().decode(errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line) or REGISTRY.search(line)
    ]
    assert found == []


def test_the_lock_files_pin_everything_by_hash() -> None:
    """Each requirement of both lock files has an exact version and at least one hash."""
    for name in ("requirements.lock", "requirements-dev.lock"):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
        loose = [
            e.split("\n")[0] for e in entries if not re.match(r"[\w.-]+==\S+ .*?--hash=sha256:", e, re.DOTALL)
        ]
        assert loose == [], name
