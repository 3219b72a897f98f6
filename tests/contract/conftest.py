"""Memory and PostgreSQL side by side."""

from collections.abc import AsyncIterator

import pytest

from support.schedules import MIDNIGHT
from support.stores import Clock, Lockstep, Stores, memory_stores, postgres_stores
from support.time_plane import TimePlane


@pytest.fixture
async def lockstep(clocked: str, clock: Clock) -> AsyncIterator[Lockstep]:
    """Memory and each PostgreSQL in turn, to be driven together."""
    async with postgres_stores(clocked, clock) as postgres:
        yield Lockstep(memory_stores(clock), postgres, clock)


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest, lockstep: Lockstep) -> Stores:
    """Each of the two alone, for promises that are best stated about one."""
    chosen: Stores = getattr(lockstep, request.param)
    return chosen


@pytest.fixture
def plane(lockstep: Lockstep) -> TimePlane:
    """The scheduling planes of both, at midnight."""
    lockstep.clock.now = MIDNIGHT
    return TimePlane(lockstep)
