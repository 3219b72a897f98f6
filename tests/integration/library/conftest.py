"""An app over each server in turn."""

from collections.abc import AsyncIterator

import pytest

from fencepost import Fencepost


@pytest.fixture
async def app(emptied: str) -> AsyncIterator[Fencepost]:
    """An app whose handlers the test registers."""
    async with Fencepost(emptied) as app:
        yield app
