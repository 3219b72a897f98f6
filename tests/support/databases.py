"""A fresh, migrated database for every test, copied from a template made once per server."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from .proof import MARKER, prove
from .stores import Clock
from .wiping import wipe

PREFIX = "fencepost_test"


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a migrated database nobody works in."""
    from fencepost.adapters.postgres.migrations import migrate

    _drop_abandoned(server)
    with new_database(server) as dsn:
        migrate(dsn)
        yield urlsplit(dsn).path.lstrip("/")


@pytest.fixture
def database(server: str, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a migrated database of the test's own, whose history must hold at the end."""
    with new_database(server, template) as dsn:
        yield dsn
        prove(dsn, request.node)


@pytest.fixture
def empty_database(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database of the test's own; what the test makes of it must hold at the end."""
    with new_database(server) as dsn:
        yield dsn
        prove(dsn, request.node)


@pytest.fixture(scope="session")
def shared_database(server: str, template: str) -> Iterator[str]:
    """The address of one migrated database per server, for tests that are many and small."""
    with new_database(server, template) as dsn:
        yield dsn


@pytest.fixture
def emptied(shared_database: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a migrated database, emptied, whose history must hold at the end."""
    wipe(shared_database)
    yield shared_database
    prove(shared_database, request.node)


@pytest.fixture
def clock() -> Clock:
    """The one clock that all databases of a test read."""
    return Clock()


@pytest.fixture
def clocked(shared_database: str, clock: Clock, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a migrated database, emptied, whose history must hold at the end by the test's clock."""
    wipe(shared_database)
    yield shared_database
    prove(shared_database, request.node, clock)


def pytest_configure(config: pytest.Config) -> None:
    """Make the way out known: a test says why its history cannot be proven."""
    config.addinivalue_line("markers", MARKER)


@contextmanager
def new_database(server: str, template: str = "template0") -> Iterator[str]:
    """Make a database under a name of its own; drop it afterwards, whoever is still connected."""
    name = f"{PREFIX}_{os.getpid()}_{secrets.token_hex(6)}"
    _run(server, "CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        _run(server, "DROP DATABASE {} WITH (FORCE)", name)


def _drop_abandoned(server: str) -> None:
    """Drop what test processes left behind that were killed."""
    with psycopg.connect(server, autocommit=True) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT datname FROM pg_database WHERE datname LIKE %s", [PREFIX + "%"]
            )
        ]
    for name in names:
        if not _alive(int(name.removeprefix(PREFIX).split("_")[1])):
            _run(server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _run(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
