"""The API over memory, for everything that does not need PostgreSQL."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from support.api import Memory, in_process


@pytest.fixture
def memory() -> Memory:
    """Ports in memory, and the clock they read."""
    return Memory()


@pytest.fixture
async def client(memory: Memory) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over memory."""
    async with in_process(memory.container) as client:
        yield client
