"""The guide's examples run."""

import ast
import asyncio
import re
import shlex
from collections.abc import Iterator
from inspect import iscoroutine
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from fencepost import Fencepost
from fencepost.entrypoints.cli.main import build
from support.live import counted, rows
from support.programs import working
from support.repository import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
UNFINISHED = """SELECT count(*) FROM fencepost.jobs
    WHERE state = 'running' OR state = 'pending' AND run_at < now() + interval '1 minute'"""
ERRORS = "SELECT DISTINCT data #>> '{error,type}' FROM fencepost.job_events WHERE data ? 'error'"
MEANT = {"handlers": {("ConnectionError",), ("retry",), ("discarded",)}}


def blocks(page: Path, language: str) -> list[str]:
    """The page's code blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def programs(page: Path) -> list[str]:
    """The page's Python blocks as one program."""
    return ["\n".join(found)] if (found := blocks(page, "python")) else []


async def run(program: str, name: str) -> dict[str, Any]:
    """Run a program that may use await outside of functions and return its names."""
    names: dict[str, Any] = {"__name__": name}
    code = compile(program, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if iscoroutine(result):
        await result
    return names


def cases() -> Iterator[Any]:
    """Each page with Python in it."""
    for page in PAGES:
        for program in programs(page):
            yield pytest.param(page.stem, program, id=page.stem)


@pytest.mark.parametrize(("name", "program"), list(cases()))
async def test_the_python_of_each_page_runs(
    database: str, name: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line by line, and then the jobs that it submitted run without any error that the page does not mean."""
    monkeypatch.setenv("DATABASE_URL", database)
    monkeypatch.setenv("SQLALCHEMY_URL", database.replace("postgresql://", "postgresql+psycopg://"))
    names = await run(program, f"docs_{name}")
    app: Fencepost = names["app"]
    async with asyncio.timeout(60), working(app, database):
        await counted(database, UNFINISHED, 0)
    assert set(await rows(database, ERRORS)) == MEANT.get(name, set())
    await app.close()
    for engine in names.values():
        if isinstance(engine, AsyncEngine):
            await engine.dispose()


COMMANDS = [
    pytest.param(line, id=f"{page.stem}: {line}")
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    if line.startswith("fencepost ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_each_page_exist(line: str) -> None:
    """Verbs, flags and arguments are understood by the command line as it is."""
    build().parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)


def test_the_guide_has_examples() -> None:
    """The search above finds what it is for."""
    assert len(list(cases())) >= 6
    assert len(COMMANDS) >= 20
