"""The domain has no clock and no dice: time and chance are handed to it."""

import ast

from support.repository import ROOT, python_files, tree

CLOCKS = {"now", "utcnow", "today"}
MODULES = {"time", "random", "secrets", "uuid", "os"}


def test_the_domain_asks_no_clock_and_throws_no_dice() -> None:
    """No datetime.now/utcnow/today, no time.* and no random.* in the domain's syntax trees."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for file in python_files("domain")
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Attribute) and _impure(node)
    ]
    assert found == []


def test_the_domain_imports_no_clock_and_no_dice() -> None:
    """A name taken out of such a module (`from time import time`) would escape the check above."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for file in python_files("domain")
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Import | ast.ImportFrom) and MODULES & _modules(node)
    ]
    assert found == []


def _impure(node: ast.Attribute) -> bool:
    owner = node.value
    if isinstance(owner, ast.Name) and owner.id in MODULES:
        return True
    return node.attr in CLOCKS and ast.unparse(owner).split(".")[-1] in {"datetime", "date"}


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {node.module or ""} if node.level == 0 else set()
    return {alias.name for alias in node.names}
