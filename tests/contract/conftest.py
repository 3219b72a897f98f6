"""Memory and PostgreSQL side by side."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.proof import prove
from support.stores import Clock, Lockstep, Stores, memory_stores, postgres_stores
from support.wiping import wipe


@pytest.fixture
def clock() -> Clock:
    """The one clock that all databases of a test read."""
    return Clock()


@pytest.fixture
def database(shared_database: str, clock: Clock, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a migrated database, emptied, whose history must hold at the end by the test's clock."""
    wipe(shared_database)
    yield shared_database
    prove(shared_database, request.node, clock)


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
