"""The checker over schedules on PostgreSQL: silent about honest ones, and it finds what somebody writes past us."""

from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.domain.backfill import Wanted
from fencepost.domain.event import ControlEvent
from fencepost.domain.invariants import Report
from fencepost.domain.ledger_rows import LedgerRow, ScheduleRow, schedule_of
from fencepost.domain.schedule import Missed, Overlap
from support.histories import broken
from support.proof import audit
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, definition, plane_over
from support.stores import Clock

SLOT = "fire_at = '2030-01-01 00:{:02}:00Z'"


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


async def write(plane: Plane, statement: str) -> None:
    """Somebody writes with a connection of their own."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute(statement.encode())


async def live(plane: Plane, missed: Missed, overlap: Overlap) -> None:
    """An hour on time, an outage, a pause, an edit, triggers, a backfill, a deletion, and a new beginning."""
    await plane.create(missed=missed, overlap=overlap, catchup_window=timedelta(hours=2))
    await plane.create("other", cron="every 7m", overlap=overlap, tz="Europe/Oslo", pause_on_failure=True)
    for number in range(12):
        await plane.round(5 * MINUTE)
        if number % 3 == 2:
            await plane.end(*await plane.claim(10))
    await plane.round(timedelta(hours=5))
    await plane.schedules.pause(NAME, USER)
    await plane.round(17 * MINUTE)
    await plane.schedules.resume(NAME, USER)
    for one in Overlap:
        await plane.firings.trigger(NAME, one, asked(f"trigger-{one}"))
        await plane.round(MINUTE)
    for token in await plane.claim(100):
        await plane.die(token)
    await plane.round(7 * MINUTE)
    backfills = PostgresBackfillStore(plane.database)
    wanted = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT + 90 * MINUTE)
    await backfills.request(NAME, wanted, asked("backfill"))
    while (await backfills.advance(7)).full:
        pass
    await plane.schedules.edit(NAME, definition("*/9 * * * *", missed=missed, overlap=overlap), USER)
    await plane.round(30 * MINUTE)
    await plane.schedules.delete(NAME, USER)
    plane.clock.advance(3 * MINUTE)
    await plane.create(missed=missed, overlap=overlap)
    await plane.round(5 * MINUTE)


@pytest.mark.parametrize("overlap", Overlap)
@pytest.mark.parametrize("missed", Missed)
async def test_schedules_keep_their_promises_under_every_policy(
    plane: Plane, missed: Missed, overlap: Overlap
) -> None:
    """Whatever happens to them in the meantime."""
    await live(plane, missed, overlap)
    report = await audit(plane.database)
    assert report.violations == report.unverifiable == ()
    assert (report.schedules, report.clock_steps) == (2, ())
    assert report.firings > 20


async def test_everything_about_a_schedule_is_read_by_name(plane: Plane) -> None:
    """Its events by position, its row, its ledger by fire time; also of one that is gone."""
    for name in ("a", "B", "a-b", "a/b", "a.b"):
        await plane.create(name)
    await plane.round(5 * MINUTE)
    await plane.schedules.delete("a-b", USER)
    items = [item async for item in PostgresEventLog(plane.database).schedule_stream()]
    kinds = (ControlEvent, ScheduleRow, LedgerRow)
    told = [(schedule_of(item), kinds.index(type(item))) for item in items]
    assert told == [
        *[("B", kind) for kind in (0, 1, 2)],
        *[("a", kind) for kind in (0, 1, 2)],
        *[("a-b", kind) for kind in (0, 0, 2)],
        *[("a.b", kind) for kind in (0, 1, 2)],
        *[("a/b", kind) for kind in (0, 1, 2)],
    ]


UPDATED = "UPDATE fencepost.firings SET {} WHERE " + SLOT
FORGERIES = {
    "a row deleted": (f"DELETE FROM fencepost.firings WHERE {SLOT.format(5)}", {"I28", "I30"}),
    "a range deleted": (f"DELETE FROM fencepost.firings WHERE {SLOT.format(10)}", {"I28"}),
    "a count changed": (UPDATED.format("count = 2", 10), {"I28"}),
    "a range without end": (UPDATED.format("until = 'infinity'", 10), {"I3", "I28"}),
    "a decision at no time": (UPDATED.format("decided_at = '-infinity'", 5), {"I28", "I30"}),
    "an unknown reason": (UPDATED.format("reason = 'none'", 5), {"I28"}),
    "another job": (UPDATED.format("job_id = 77", 5), {"I30"}),
    "a row set back": ("UPDATE fencepost.schedules SET next_fire_at = '2030-01-01 00:15Z'", {"I29"}),
    "a row set on": ("UPDATE fencepost.schedules SET next_fire_at = '2030-01-01 01:00Z'", {"I28"}),
    "a row deleted from schedules": ("DELETE FROM fencepost.schedules", {"I30"}),
    "a definition of nothing": ("UPDATE fencepost.schedules SET definition = '[]'", {"I7"}),
}


@pytest.mark.unproven("it forges rows")
@pytest.mark.parametrize(("statement", "breaks"), FORGERIES.values(), ids=FORGERIES)
async def test_what_somebody_writes_past_us_is_found(plane: Plane, statement: str, breaks: set[str]) -> None:
    """Fired at 5 minutes past midnight, and skipped at 10, 15 and 20 as that job is unfinished."""
    await plane.create()
    for _ in range(4):
        await plane.round(5 * MINUTE)
    assert (await audit(plane.database)).clean
    await write(plane, statement)
    assert broken(await audit(plane.database)) == breaks


@pytest.mark.unproven("it forges rows")
async def test_one_job_is_judged_with_its_row_of_the_ledger(plane: Plane) -> None:
    """And with nothing else of its schedule."""
    await plane.create(overlap=Overlap.ALLOW)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await write(plane, f"UPDATE fencepost.firings SET version = 2, count = 1 WHERE {SLOT.format(5)}")
    await write(plane, f"DELETE FROM fencepost.firings WHERE {SLOT.format(15)}")

    async def of(job_id: int) -> Report:
        return await audit(plane.database, job_id=job_id)

    assert broken(await of(1)) == {"I30"}
    second = await of(2)
    assert (second.clean, second.events, second.schedules, second.firings) == (True, 1, 0, 0)


async def test_a_fire_time_that_nobody_decides_is_an_alert(plane: Plane) -> None:
    """No scheduler runs; once one does, it is over."""
    await plane.create()
    plane.clock.advance(5 * MINUTE + timedelta(seconds=61))
    report = await audit(plane.database)
    assert report.clean
    assert [alert.invariant for alert in report.alerts] == ["I28"]
    await plane.fire()
    assert (await audit(plane.database)).alerts == ()


async def test_pruned_jobs_of_schedules_raise_no_alarm(plane: Plane) -> None:
    """The ledger tells of them still."""
    await plane.create()
    await plane.round(5 * MINUTE)
    await plane.end(*await plane.claim())
    await plane.round(5 * MINUTE)
    await write(plane, "SELECT fencepost.prune('{1}', 'user:ann', 'request-1', 'old')")
    report = await audit(plane.database)
    assert (report.violations, report.jobs, report.firings) == ((), 1, 2)
