"""Calling `fencepost` in this process: the same main() with arguments, folder, environment and streams of its own."""

import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from fencepost.entrypoints.cli.main import main


def call(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it would leave behind in its process is undone here.

    For commands that end by themselves: signals, and what a process does as it ends, take a real one.
    """
    stdout, stderr = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        for surroundings in (
            chdir(folder),
            patch.dict(os.environ, environment, clear=True),
            patch.object(sys, "argv", ["fencepost", *arguments]),
            patch.object(sys, "stdin", io.StringIO(stdin)),
            redirect_stdout(stdout),
            redirect_stderr(stderr),
            _imports_undone(folder),
            _logging_undone(),
        ):
            stack.enter_context(surroundings)
        with pytest.raises(SystemExit) as end:
            main()
    code = end.value.code
    assert isinstance(code, int), code
    return subprocess.CompletedProcess([*arguments], code, stdout.getvalue(), stderr.getvalue())


@contextmanager
def _imports_undone(folder: Path) -> Iterator[None]:
    """Forget the user's modules: the next test has others of the same names."""
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or os.sep).is_relative_to(folder):
                del sys.modules[name]


@contextmanager
def _logging_undone() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
