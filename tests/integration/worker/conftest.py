"""A workshop for each test."""

from collections.abc import AsyncIterator

import pytest_asyncio

from support.local_time import settle
from support.workshop import Workshop


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Workshop]:
    """A worker over the memory adapter, its time in the test's hands."""
    workshop = Workshop()
    yield workshop
    workshop.abandon()
    await settle()
