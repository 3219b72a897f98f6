"""The real command line against a real database; as a process where that makes a difference."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from support.commands import Commands
from support.databases import new_database
from support.proof import prove
from support.wiping import wipe

OTHERS_OUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
SHOP = '''
"""An app for tests."""
import asyncio, pathlib, sys, time
from fencepost import Discard, Fencepost

app = Fencepost()
empty = Fencepost()
HERE = pathlib.Path(__file__).parent

def mark(what, ctx):
    with (HERE / "marks").open("a") as marks:
        marks.write(f"{what} {ctx.job_id} {ctx.attempt}\\n")

@app.job()
async def echo(ctx, text: str = "") -> str:
    mark("ran", ctx)
    return text

@app.job(queue="side")
async def nap(ctx, seconds: float) -> None:
    mark("began", ctx)
    await asyncio.sleep(seconds)
    mark("ended", ctx)

@app.job(queue="side")
def doze(ctx, seconds: float) -> None:
    mark("began", ctx)
    time.sleep(seconds)
    mark("ended", ctx)

@app.job(queue="side")
async def deaf(ctx, seconds: float) -> None:
    mark("began", ctx)
    time.sleep(seconds)

@app.job()
async def doomed(ctx) -> None:
    raise Discard("no use")
'''


@pytest.fixture(scope="session")
def template18(server18: str) -> Iterator[str]:
    """The name of a migrated database on the embedded server."""
    from fencepost.adapters.postgres.migrations import migrate

    with new_database(server18) as dsn:
        migrate(dsn)
        yield urlsplit(dsn).path.lstrip("/")


@pytest.fixture(scope="session")
def shared18(server18: str, template18: str) -> Iterator[str]:
    """One server is enough here: what differs between servers is tested below the command line."""
    with new_database(server18, template18) as dsn:
        yield dsn


@pytest.fixture
def database(shared18: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a migrated database without rows; whoever a test before has left in it is gone."""
    with psycopg.connect(shared18, autocommit=True) as connection:
        connection.execute(OTHERS_OUT)
    wipe(shared18)
    yield shared18
    prove(shared18, request.node)


@pytest.fixture
def own_database(server18: str, template18: str) -> Iterator[str]:
    """The address of a migrated database that nobody else will use."""
    with new_database(server18, template18) as dsn:
        yield dsn


@pytest.fixture
def empty18(server18: str) -> Iterator[str]:
    """The address of an empty database on the embedded server."""
    with new_database(server18) as dsn:
        yield dsn


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Commands]:
    """The command line where no database is named; processes left over are killed."""
    (tmp_path / "shop.py").write_text(SHOP)
    named = ("FENCEPOST_", "PG", "DATABASE_URL")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    commands = Commands(tmp_path, clean)
    yield commands
    commands.kill()


@pytest.fixture
def fencepost(bare: Commands, database: str) -> Iterator[Commands]:
    """The command line over an empty database; no process is left when its history is proven."""
    commands = bare.having(FENCEPOST_DATABASE_URL=database)
    yield commands
    commands.kill()


@pytest.fixture
def submit(fencepost: Commands) -> Callable[..., int]:
    """Submits a job on the command line and returns its id."""

    def run(type: str, *arguments: str) -> int:
        job_id: int = fencepost.json("jobs", "submit", type, *arguments)["job_id"]
        return job_id

    return run


@pytest.fixture
def add(fencepost: Commands) -> Callable[..., dict[str, Any]]:
    """Adds a schedule that does not fire during the test."""

    def run(name: str, *arguments: str) -> dict[str, Any]:
        return fencepost.json("schedules", "add", name, "--cron", "@yearly", "--type", "report", *arguments)

    return run
