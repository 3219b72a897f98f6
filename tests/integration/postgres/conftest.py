"""The PostgreSQL adapter alone, on each server in turn."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.frontiers import Arena, arena_over
from support.proxy import Proxy
from support.rig import Rig, rig_over
from support.stores import Clock


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
async def arena(clocked: str, clock: Clock) -> AsyncIterator[Arena]:
    """Workers over it, whose full scans come when the test says so."""
    async with arena_over(clocked, clock) as arena:
        yield arena
