"""B059, B065, B066, B069: outages, edits and slow handlers of schedules, on PostgreSQL whose clock the test moves."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import psycopg
import pytest

from fencepost.domain.firing import BATCH_FIRED
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.token import Token
from support.rig import USER, waiting
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, definition, plane_over
from support.stores import Clock

SECOND = timedelta(seconds=1)
LARGEST = """
SELECT max(number) FROM (
    SELECT count(*) AS number FROM fencepost.job_events WHERE name = 'enqueued' GROUP BY CAST(xmin AS text)
) AS transactions
"""


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


def asked(dsn: str, statement: str) -> object:
    """The only value of an answer."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        [(value,)] = connection.execute(statement.encode()).fetchall()
        return value


async def test_six_hours_are_caught_up_with_in_bounded_batches(plane: Plane) -> None:
    """B059: ten schedules, 72 jobs each in the order of their fire times, no more than a batch in a transaction."""
    names = [f"report-{number}" for number in range(10)]
    for name in names:
        await plane.create(name, missed=Missed.ALL)
    await plane.fire(timedelta(hours=6, minutes=1))
    jobs = await plane.all_jobs()
    expected = [MIDNIGHT + 5 * number * MINUTE for number in range(1, 73)]
    for name in names:
        mine = [job for job in jobs if (job.effect_key or "").startswith(f"schedule:{name}:")]
        assert [job.scheduled_for for job in mine] == expected
        assert (await plane.schedule(name)).next_fire_at == expected[-1] + 5 * MINUTE
    assert len(jobs) == 720
    assert asked(plane.dsn, LARGEST) == BATCH_FIRED


async def test_an_edit_that_waits_for_a_firing_comes_after_it(plane: Plane) -> None:
    """B065: the firing commits by the old expression, the edit by the new one; no slot of the old one follows."""
    await plane.create(cron="0 0 * * *")
    day = timedelta(days=1)
    plane.clock.advance(day)
    async with await psycopg.AsyncConnection.connect(plane.dsn) as other:
        await other.execute("LOCK TABLE fencepost.firings IN SHARE MODE")
        firing = asyncio.ensure_future(plane.firings.fire(100))
        await waiting(plane.dsn)
        edit = asyncio.ensure_future(plane.schedules.edit(NAME, definition("0 12 * * *"), USER))
        await waiting(plane.dsn, 2)
        await other.rollback()
    await firing
    assert (await edit).next_fire_at == MIDNIGHT + 1.5 * day
    await plane.fire(2 * day)
    assert [row.fire_at for row in await plane.ledger()] == [MIDNIGHT + k * day for k in (1, 1.5, 2.5)]


async def test_a_firing_leaves_a_schedule_alone_that_is_being_edited(plane: Plane) -> None:
    """B065: the other way round: what was due by the old expression is skipped, and said to be."""
    await plane.create()
    plane.clock.advance(5 * MINUTE)
    async with await psycopg.AsyncConnection.connect(plane.dsn) as other:
        await other.execute("LOCK TABLE fencepost.firings IN SHARE MODE")
        edit = asyncio.ensure_future(plane.schedules.edit(NAME, definition("7,8 * * * *"), USER))
        await waiting(plane.dsn)
        assert (await plane.firings.fire(100)).schedules == 0
        await other.rollback()
    await edit
    await plane.fire(2 * MINUTE)
    assert await plane.told() == [(5, "skipped", "edited", 1), (7, "fired", "due", 1)]


@pytest.mark.parametrize("seconds", [61, 90, 119])
@pytest.mark.parametrize("before", [1, 30, 59])
async def test_a_scheduler_that_pauses_misses_no_fire_time(plane: Plane, seconds: int, before: int) -> None:
    """B066: nobody looks for a minute or two around a fire time: it fires once all the same."""
    await plane.create(cron="1 * * * *", overlap=Overlap.ALLOW)
    await plane.fire(MINUTE - before * SECOND)
    await plane.fire(seconds * SECOND)
    await plane.fire(seconds * SECOND)
    assert [job.scheduled_for for job in await plane.all_jobs()] == [MIDNIGHT + MINUTE]
    assert len(await plane.ledger()) == 1


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
async def test_runs_slower_than_their_cadence_do_not_pile_up(plane: Plane, overlap: Overlap) -> None:
    """B069: every minute, 150 s a run, one worker, one hour: one job at a time, and each minute has its decision."""
    await plane.create(cron="* * * * *", overlap=overlap)
    running: dict[Token, datetime] = {}
    for _ in range(120):
        await plane.round(MINUTE / 2)
        for token, began in list(running.items()):
            if plane.clock.now - began >= 150 * SECOND:
                await plane.end(token)
                del running[token]
                await plane.round()
        if not running:
            running = dict.fromkeys(await plane.claim(), plane.clock.now)
        assert sum(not job.terminal for job in await plane.all_jobs()) <= 1
    decided: Counter[str] = Counter()
    for row in await plane.ledger():
        decided[row.outcome.value] += row.count
    jobs = len(await plane.all_jobs())
    assert decided.total() == 60
    assert decided["skipped"] >= 60 - jobs - 1
    assert jobs in (20, 24, 25)
