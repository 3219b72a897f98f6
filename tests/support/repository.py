"""The repository as data: its tracked Python files and their functions."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("domain", "application", "adapters", "entrypoints")
SOURCE = (*LAYERS, "src")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked() -> tuple[Path, ...]:
    """Every file git tracks or would track, links left out."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: its files cannot be told from build products")
    listing = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = [ROOT / name for name in names if name]
    return tuple(file for file in files if file.is_file() and not file.is_symlink())


def python_files(*folders: str) -> list[Path]:
    """The tracked Python files below these folders of the root."""
    return [f for f in tracked() if f.suffix == ".py" and f.relative_to(ROOT).parts[0] in folders]


@cache
def tree(file: Path) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(file.read_text(), str(file))


def functions(file: Path) -> Iterator[Function]:
    """Every function of a file, methods and nested ones included."""
    return (n for n in ast.walk(tree(file)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def lines(file: Path) -> int:
    """How many lines a file has."""
    return file.read_text().count("\n")


def length(function: Function) -> int:
    """How many lines a function has, its docstring included."""
    return (function.end_lineno or function.lineno) - function.lineno + 1
