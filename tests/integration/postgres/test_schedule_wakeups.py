"""Whoever changes when something is due wakes the schedulers: none of them sleeps over it until its next poll."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from fencepost.adapters.postgres.schedule_wakeups import PostgresScheduleWakeups
from fencepost.domain.backfill import Wanted
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, definition, plane_over
from support.stores import Clock

Change = Callable[[Plane], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "create": lambda plane: plane.create("another"),
    "declare": lambda plane: plane.schedules.declare("coded", definition(), USER, app="jobs:app"),
    "edit": lambda plane: plane.schedules.edit(NAME, definition("* * * * *"), USER),
    "resume": lambda plane: plane.schedules.resume("asleep", USER),
    "backfill": lambda plane: plane.backfills.request(
        NAME, Wanted(from_at=MIDNIGHT - 10 * MINUTE, to_at=MIDNIGHT), asked("one")
    ),
}


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight; there is a schedule, and another that is paused."""
    async with plane_over(clocked, clock) as plane:
        await plane.create()
        await plane.create("asleep")
        await plane.schedules.pause("asleep", USER)
        yield plane


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_change_wakes_schedulers(plane: Plane, change: Change) -> None:
    """Their bell rings when they have begun to listen, and again when it is committed."""
    bell = asyncio.Event()
    wakeups = PostgresScheduleWakeups(plane.database)
    wakeups.open(bell.set)
    async with asyncio.timeout(60):
        await bell.wait()
        bell.clear()
        await change(plane)
        await bell.wait()
    await wakeups.close()
    assert bell.is_set()
