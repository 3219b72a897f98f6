"""The PostgreSQL adapter alone, on each server in turn."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.frontiers import Arena, arena_over
from support.proof import prove
from support.proxy import Proxy
from support.rig import Rig, rig_over
from support.stores import Clock
from support.wiping import wipe


@pytest.fixture
async def rig(emptied: str) -> AsyncIterator[Rig]:
    """The adapter over it."""
    async with rig_over(emptied) as rig:
        yield rig


@pytest.fixture
def proxy(emptied: str) -> Iterator[Proxy]:
    """A bad network to it."""
    with Proxy(emptied) as proxy:
        yield proxy


@pytest.fixture
async def far_rig(proxy: Proxy) -> AsyncIterator[Rig]:
    """The adapter behind the bad network."""
    async with rig_over(proxy.dsn) as rig:
        yield rig


@pytest.fixture
def clock() -> Clock:
    """A clock for databases of tests that own the time."""
    return Clock()


@pytest.fixture
def clocked(shared_database: str, clock: Clock, request: pytest.FixtureRequest) -> Iterator[str]:
    """A migrated database, emptied, whose history must hold at the end by the test's clock."""
    wipe(shared_database)
    yield shared_database
    prove(shared_database, request.node, clock)


@pytest.fixture
async def arena(clocked: str, clock: Clock) -> AsyncIterator[Arena]:
    """Workers over it, whose full scans come when the test says so."""
    async with arena_over(clocked, clock) as arena:
        yield arena
