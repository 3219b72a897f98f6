"""The table of cases names tests that exist and say so themselves."""

import ast
import re

from support.repository import ROOT, tree

TABLE = ROOT / "tests" / "CASES.md"
ROW = re.compile(r"\| (B\d{3}) \|[^|]*\|([^|]*)\|")
CELL = re.compile(r"`([\w/]+\.py)`: (.*?)(?:<br>|$)")


def test_every_test_in_the_table_names_its_case() -> None:
    """In its own docstring or in its file's."""
    rows = ROW.findall(TABLE.read_text())
    wrong = [
        f"{case}: {file} {name}"
        for case, cell in rows
        for file, names in CELL.findall(cell.strip())
        for name in re.findall(r"`(\w+)`", names)
        if case not in _said(file, f"test_{name}")
    ]
    assert len(rows) > 50
    assert wrong == []


def _said(file: str, name: str) -> str:
    """Return the docstrings of a test and its file; nothing when there is no such test."""
    path = ROOT / "tests" / file
    if not path.exists():
        return ""
    module = tree(path)
    tests = [node for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = [ast.get_docstring(test) or "" for test in tests if test.name == name]
    return " ".join([ast.get_docstring(module) or "", *found]) if found else ""
