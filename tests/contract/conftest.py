"""Memory and PostgreSQL side by side."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.databases import new_database
from support.stores import Clock, Lockstep, Stores, memory_stores, postgres_stores
from support.wiping import wipe


@pytest.fixture
def clock() -> Clock:
    """The one clock that all databases of a test read."""
    return Clock()


@pytest.fixture(scope="session")
def shared_database(server: str, template: str) -> Iterator[str]:
    """The address of one migrated database per server."""
    with new_database(server, template) as dsn:
        yield dsn


@pytest.fixture
def database(shared_database: str) -> str:
    """The address of an empty, migrated database."""
    wipe(shared_database)
    return shared_database


@pytest.fixture
async def lockstep(database: str, clock: Clock) -> AsyncIterator[Lockstep]:
    """Memory and each PostgreSQL in turn, to be driven together."""
    async with postgres_stores(database, clock) as postgres:
        yield Lockstep(memory_stores(clock), postgres, clock)


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest, lockstep: Lockstep) -> Stores:
    """Each of the two alone, for promises that are best stated about one."""
    chosen: Stores = getattr(lockstep, request.param)
    return chosen
