"""The API over memory, for everything that does not need PostgreSQL, and over PostgreSQL behind a bad network."""

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest
from dependency_injector import providers

from fencepost.entrypoints.container import closed
from support.api import Memory, in_process, postgres_container
from support.proxy import Proxy
from support.schedules import Plane, plane_over
from support.stores import Clock


@pytest.fixture
def memory() -> Memory:
    """Ports in memory, and the clock they read."""
    return Memory()


@pytest.fixture
async def client(memory: Memory) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over memory."""
    async with in_process(memory.container) as client:
        yield client


@pytest.fixture
def proxy(emptied: str) -> Iterator[Proxy]:
    """A bad network to an empty database."""
    with Proxy(emptied) as proxy:
        yield proxy


@pytest.fixture
async def far(proxy: Proxy) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API on the other side of it."""
    container = postgres_container(proxy.dsn)
    async with in_process(container, timeout=30) as client:
        yield client
    await closed(container)


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


@pytest.fixture
async def api(plane: Plane) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over the same database, at the same time."""
    container = postgres_container(plane.dsn)
    container.database.override(providers.Object(plane.database))
    async with in_process(container, timeout=30) as client:
        yield client
