"""The API over memory, for everything that does not need PostgreSQL, and a database for what does."""

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest

from support.api import Memory, in_process
from support.databases import new_database
from support.wiping import wipe


@pytest.fixture
def memory() -> Memory:
    """Ports in memory, and the clock they read."""
    return Memory()


@pytest.fixture
async def client(memory: Memory) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over memory."""
    async with in_process(memory.container) as client:
        yield client


@pytest.fixture(scope="session")
def shared_database(server: str, template: str) -> Iterator[str]:
    """The address of one migrated database per server."""
    with new_database(server, template) as dsn:
        yield dsn


@pytest.fixture
def emptied(shared_database: str) -> str:
    """The address of an empty, migrated database."""
    wipe(shared_database)
    return shared_database
