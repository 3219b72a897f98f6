"""The PostgreSQL adapter alone, on each server in turn."""

from collections.abc import AsyncIterator, Iterator

import pytest

from support.proxy import Proxy
from support.rig import Rig, rig_over


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
