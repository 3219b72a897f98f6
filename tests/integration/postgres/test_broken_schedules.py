"""Rows of schedules that nobody can read any more: they hold up no other, and people can mend them."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.domain.backfill import Ending, Wanted
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, Plane, asked, definition, plane_over
from support.stores import Clock

GONE = """'{"tz": "Mars/Olympus"}'"""

pytestmark = pytest.mark.unproven("it forges rows of schedules")


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there are two schedules."""
    async with plane_over(clocked, clock) as plane:
        await plane.create("broken")
        await plane.create("sound")
        yield plane


async def forged(plane: Plane, assignment: str) -> None:
    """Somebody writes into a schedule's row, or another version of the tz database has lost its zone."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute(
            f"UPDATE fencepost.schedules SET definition = {assignment} WHERE name = 'broken'"
        )


async def test_a_schedule_whose_zone_is_gone_is_paused_with_the_reason(plane: Plane) -> None:
    """The one fire time that is known to be due is recorded, and the other schedule fires."""
    await forged(plane, f"definition || {GONE}")
    await plane.fire(5 * MINUTE)
    broken = await plane.schedule("broken")
    assert broken.paused_at is not None
    assert "tz: must be a time zone" in (broken.pause_reason or "")
    assert await plane.told("broken") == [(5, "skipped", "edited", 1)]
    assert await plane.told("sound") == [(5, "fired", "due", 1)]


async def test_an_edit_and_a_resume_mend_a_schedule_whose_zone_was_gone(plane: Plane) -> None:
    """It fires again from then on."""
    await forged(plane, f"definition || {GONE}")
    await plane.fire(5 * MINUTE)
    await plane.schedules.edit("broken", definition(), USER)
    await plane.schedules.resume("broken", USER)
    await plane.fire(5 * MINUTE)
    assert await plane.told("broken") == [(5, "skipped", "edited", 1), (10, "fired", "due", 1)]


async def test_a_row_without_a_definition_holds_up_no_other(plane: Plane) -> None:
    """It is left as it is."""
    await forged(plane, "'{}'")
    await plane.fire(5 * MINUTE)
    assert await plane.told("broken") == []
    assert await plane.told("sound") == [(5, "fired", "due", 1)]


async def test_a_backfill_whose_zone_is_gone_ends_with_the_reason(plane: Plane) -> None:
    """Others go on."""
    backfills = PostgresBackfillStore(plane.database)
    plane.clock.advance(60 * MINUTE)
    wanted = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT + 20 * MINUTE)
    await backfills.request("broken", wanted, asked("broken"))
    await backfills.request("sound", wanted, asked("sound"))
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute(
            f"UPDATE fencepost.backfills SET timing = timing || {GONE} WHERE schedule = 'broken'"
        )
    while (await backfills.advance(100)).full:
        pass
    [broken], [sound] = await backfills.list("broken"), await backfills.list("sound")
    assert (broken.ending, broken.fired) == (Ending.STOPPED, 0)
    assert (sound.ending, sound.fired) == (Ending.DONE, 5)


async def test_a_backfill_whose_schedule_is_broken_ends_with_the_reason(plane: Plane) -> None:
    """Nobody knows what its jobs are like; others go on."""
    backfills = PostgresBackfillStore(plane.database)
    wanted = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT)
    await backfills.request("broken", wanted, asked("broken"))
    await backfills.request("sound", wanted, asked("sound"))
    await forged(plane, "'{}'")
    while (await backfills.advance(100)).full:
        pass
    [broken], [sound] = await backfills.list("broken"), await backfills.list("sound")
    assert (broken.ending, sound.ending) == (Ending.STOPPED, Ending.DONE)
