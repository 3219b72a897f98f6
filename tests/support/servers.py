"""The servers tests run against: an embedded PostgreSQL 18 and the machine's PostgreSQL 15."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from support.places import passable_folder

SERVER15 = os.environ.get("FENCEPOST_TEST_PG15", "postgresql://postgres@127.0.0.1:5432/test")
# Tests may lose their data; nobody else may.
QUICK = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}


@pytest.fixture(scope="session")
def server18() -> Iterator[str]:
    """The address of an embedded PostgreSQL 18 that ends with this process."""
    with passable_folder() as folder:
        server = EmbeddedPostgres(folder / "data", settings=QUICK, shelter=folder / "shelter")
        with server as running:
            yield running.dsn


@pytest.fixture(scope="session")
def server15() -> str:
    """The address of the machine's PostgreSQL 15; FENCEPOST_TEST_PG15 names another one."""
    try:
        psycopg.connect(SERVER15, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL 15 (FENCEPOST_TEST_PG15): {str(error).splitlines()[0]}")
    return SERVER15


@pytest.fixture(scope="session", params=["pg18", "pg15"])
def server(request: pytest.FixtureRequest) -> str:
    """The address of each server in turn."""
    address: str = request.getfixturevalue({"pg18": "server18", "pg15": "server15"}[request.param])
    return address
