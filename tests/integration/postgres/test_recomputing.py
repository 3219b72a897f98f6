"""Next fire times that older rules of time zones have computed: they are looked at before they come."""

from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.event import ControlEvent
from fencepost.domain.vocabulary import ControlEventName
from fencepost.domain.zones import TZ_VERSION
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, Plane, definition, plane_over
from support.stores import Clock

HOUR = timedelta(hours=1)
BEFORE = "next_fire_at = next_fire_at + interval '1 hour', tz_version = '2020a'"
"""By rules under which the clocks of Oslo were an hour behind those of now."""


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight; a schedule is due at two in Oslo, another every five minutes in UTC."""
    async with plane_over(clocked, clock) as plane:
        await plane.create("oslo", cron="0 2 * * *", tz="Europe/Oslo")
        await plane.create("utc")
        yield plane


async def written(plane: Plane, assignments: str) -> None:
    """Somebody else has written the rows: a scheduler of an older version."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute(f"UPDATE fencepost.schedules SET {assignments}")


async def versions(plane: Plane) -> set[str]:
    """The tz databases that next fire times come from."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        found = await connection.execute("SELECT tz_version FROM fencepost.schedules")
        return {version for (version,) in await found.fetchall()}


@pytest.mark.unproven("next fire times are changed without events")
async def test_a_next_fire_time_of_older_rules_is_computed_anew(plane: Plane) -> None:
    """The event says why; it fires at two by the rules of now, once."""
    await written(plane, BEFORE)
    assert await plane.firings.recompute(100) == 2
    assert await plane.firings.recompute(100) == 0
    schedule = await plane.schedule("oslo")
    assert (schedule.next_fire_at, schedule.version) == (MIDNIGHT + HOUR, 2)
    event = (await PostgresEventLog(plane.database).page(LogFilter(subject="schedule:oslo")))[-1]
    assert isinstance(event, ControlEvent)
    assert event.name == ControlEventName.SCHEDULE_EDITED
    assert event.reason == f"its next fire time is computed anew by the tz database {TZ_VERSION}"
    await plane.fire(HOUR)
    await plane.fire(HOUR)
    assert await plane.told("oslo") == [(60, "fired", "due", 1)]


async def test_who_edits_something_else_says_nothing_of_the_rules(plane: Plane) -> None:
    """The next fire time that is kept comes from the older ones, until it is computed anew."""
    await written(plane, "tz_version = '2020a'")
    wanted = definition("0 2 * * *", tz="Europe/Oslo", priority=1)
    await plane.schedules.edit("oslo", wanted, USER)
    [created, edited] = await PostgresEventLog(plane.database).page(LogFilter(subject="schedule:oslo"))
    assert [event.data.get("tz_version") for event in (created, edited)] == [TZ_VERSION, None]
    assert await plane.firings.recompute(100) == 2


async def test_a_next_fire_time_that_stays_the_same_is_no_edit(plane: Plane) -> None:
    """It is only noted that it holds by the rules of now."""
    await written(plane, "tz_version = '2020a'")
    assert await plane.firings.recompute(100) == 2
    assert await versions(plane) == {TZ_VERSION}
    assert (await plane.schedule("oslo")).version == 1


@pytest.mark.unproven("next fire times are changed without events")
async def test_what_is_due_already_is_left_to_be_decided(plane: Plane) -> None:
    """It was a fire time when it came; those after it come from the rules of now."""
    await written(plane, "tz_version = '2020a'")
    plane.clock.advance(5 * MINUTE)
    assert await plane.firings.recompute(100) == 1
    await plane.fire()
    assert await plane.told("utc") == [(5, "fired", "due", 1)]
    assert await versions(plane) == {TZ_VERSION}


async def test_newer_rules_than_ones_own_are_left_alone(plane: Plane) -> None:
    """Of schedulers of two versions the newer one is right."""
    await written(plane, "tz_version = '9999z'")
    assert await plane.firings.recompute(100) == 0
