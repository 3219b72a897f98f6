"""Firings on PostgreSQL: each fire time is decided once, with its job, whoever asks and however often."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from fencepost.adapters.postgres.connector import Connector
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.firing_store import PostgresFiringStore
from fencepost.domain.commands import Cancel
from fencepost.domain.schedule import MISSED_AFTER, Missed, Overlap
from fencepost.domain.vocabulary import State
from support.rig import USER, waiting
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, plane_over
from support.stores import Clock

OUTAGE = timedelta(hours=6, minutes=1)


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


async def test_what_a_frozen_scheduler_has_locked_is_free_before_it_is_missed(plane: Plane) -> None:
    """The server ends a transaction that does nothing while another scheduler can still fire on time."""
    async with await Connector(plane.dsn).connect() as connection:
        found = await connection.execute(
            "SELECT CAST(current_setting('idle_in_transaction_session_timeout') AS interval)"
        )
        [[idle]] = await found.fetchall()
    assert timedelta(0) < idle <= MISSED_AFTER / 2


@pytest.mark.unproven("next fire times are changed without events, on another clock")
async def test_what_comes_due_during_a_round_is_not_slept_over(plane: Plane) -> None:
    """By the database's own clock: the next round is at once, though the fire time has passed when this one ends."""
    await plane.create("due", cron="every 1h")
    await plane.create("during", cron="every 1h")
    database = Database(plane.dsn)
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as other:
        await other.execute("UPDATE fencepost.schedules SET next_fire_at = '2040-01-01 00:00:00+00'")
        await other.execute(
            "UPDATE fencepost.schedules SET next_fire_at = clock_timestamp() WHERE name = 'due'"
        )
        async with other.transaction():
            await other.execute("LOCK TABLE fencepost.firings IN SHARE MODE")
            round_ = asyncio.create_task(PostgresFiringStore(database).fire(100))
            await waiting(plane.dsn)
            async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as third:
                await third.execute(
                    "UPDATE fencepost.schedules SET next_fire_at = clock_timestamp() WHERE name = 'during'"
                )
        fired = await round_
    await database.close()
    assert fired.schedules == 1
    assert fired.next_in is not None
    assert fired.next_in <= timedelta(0)


async def test_a_fire_time_makes_a_job_of_the_template(plane: Plane) -> None:
    """Due at the fire time, which the job knows; its effect key is the slot's."""
    await plane.create(queue="mail", priority=8, max_attempts=3)
    await plane.fire(5 * MINUTE + timedelta(seconds=2))
    [job] = await plane.all_jobs()
    assert (job.type, job.queue, job.priority, job.max_attempts, job.payload) == (
        "work",
        "mail",
        8,
        3,
        '{"a":1}',
    )
    assert job.run_at == job.scheduled_for == MIDNIGHT + 5 * MINUTE
    assert job.effect_key == "schedule:report:2030-01-01T00:05:00.000000Z"
    [row] = await plane.ledger()
    assert row.job_id == job.job_id


async def test_jitter_delays_the_job_and_not_the_decision(plane: Plane) -> None:
    """It is inserted at the fire time and due later."""
    await plane.create(jitter=10 * MINUTE)
    await plane.fire(5 * MINUTE)
    [job] = await plane.all_jobs()
    assert job.scheduled_for == MIDNIGHT + 5 * MINUTE
    assert job.scheduled_for < job.run_at < job.scheduled_for + 10 * MINUTE


async def test_a_round_tells_when_the_next_fire_time_is(plane: Plane) -> None:
    """So that a scheduler sleeps exactly until then."""
    await plane.create()
    await plane.create("later", cron="0 * * * *")
    assert (await plane.firings.fire(100)).next_in == 5 * MINUTE


async def test_without_schedules_there_is_no_next_fire_time(plane: Plane) -> None:
    """Only a hint or the poll ends the sleep."""
    fired = await plane.firings.fire(100)
    assert (fired.schedules, fired.full, fired.next_in) == (0, False, None)


async def test_latest_makes_one_job_of_six_hours(plane: Plane) -> None:
    """B059: the newest slot."""
    await plane.create()
    await plane.fire(OUTAGE)
    assert await plane.told() == [(5, "coalesced", "missed", 71), (360, "fired", "missed", 1)]
    assert [job.scheduled_for for job in await plane.all_jobs()] == [MIDNIGHT + 360 * MINUTE]


async def test_all_makes_a_job_of_each_in_order(plane: Plane) -> None:
    """B059: 72 jobs."""
    await plane.create(missed=Missed.ALL, overlap=Overlap.ALLOW)
    await plane.fire(OUTAGE)
    expected = [MIDNIGHT + 5 * number * MINUTE for number in range(1, 73)]
    assert [job.scheduled_for for job in await plane.all_jobs()] == expected


async def test_skip_makes_no_job_and_says_how_many(plane: Plane) -> None:
    """B060: 72 slots, from the first to the last."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(OUTAGE)
    assert await plane.told() == [(5, "skipped", "missed", 72)]
    [row] = await plane.ledger()
    assert row.last == MIDNIGHT + 360 * MINUTE
    assert await plane.all_jobs() == []


async def test_skips_that_follow_each_other_share_a_row(plane: Plane) -> None:
    """Over many rounds; whatever else is decided begins a new one."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    await plane.end(*await plane.claim())
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    assert await plane.told() == [
        (5, "fired", "due", 1),
        (10, "skipped", "overlap", 3),
        (25, "fired", "due", 1),
        (30, "skipped", "overlap", 1),
    ]


async def test_one_waits_until_the_other_has_ended(plane: Plane) -> None:
    """Its job is inserted then, for the slot that it waited for, and the ledger learns which it is."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    assert len(await plane.all_jobs()) == 1
    await plane.end(*await plane.claim())
    await plane.round()
    assert [job.scheduled_for for job in await plane.all_jobs()] == [
        MIDNIGHT + 5 * MINUTE,
        MIDNIGHT + 10 * MINUTE,
    ]
    rows = await plane.ledger()
    assert [(row.outcome.value, row.job_id is not None) for row in rows] == [
        ("fired", True),
        ("queued", True),
        ("skipped", False),
    ]
    assert (await plane.schedule()).waiting is None


async def test_the_one_before_is_asked_to_stop(plane: Plane) -> None:
    """And the new one waits until it has."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    [running] = await plane.all_jobs()
    assert running.cancel_requested
    await plane.end(token)
    await plane.round()
    assert len(await plane.all_jobs()) == 2


async def test_a_job_that_has_not_begun_is_cancelled_at_once(plane: Plane) -> None:
    """The new one takes its place."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    assert [job.state for job in await plane.all_jobs()] == [State.CANCELLED, State.PENDING]


async def test_a_dead_job_pauses_a_schedule_that_wants_that(plane: Plane) -> None:
    """Before its next firing, which is skipped; after a resume it goes on."""
    await plane.create(pause_on_failure=True)
    await plane.fire(5 * MINUTE)
    [token] = await plane.claim()
    await plane.die(token)
    await plane.fire(5 * MINUTE)
    schedule = await plane.schedule()
    assert schedule.pause_reason == f"job {token.job_id} is dead"
    assert await plane.told() == [(5, "fired", "due", 1), (10, "skipped", "edited", 1)]
    await plane.schedules.resume(NAME, USER)
    await plane.fire(5 * MINUTE)
    assert len(await plane.all_jobs()) == 2


async def test_a_cancelled_job_is_no_failure(plane: Plane) -> None:
    """Somebody wanted that."""
    await plane.create(pause_on_failure=True)
    await plane.fire(5 * MINUTE)
    [job] = await plane.all_jobs()
    await plane.jobs.operate([job.job_id], Cancel(origin=USER))
    await plane.fire(5 * MINUTE)
    assert (await plane.schedule()).paused_at is None


async def test_a_trigger_fires_once_for_each_request(plane: Plane) -> None:
    """Repeated it is answered with the first firing; the clock's firings go on as before."""
    await plane.create()
    first = await plane.firings.trigger(NAME, Overlap.ALLOW, asked("one"))
    again = await plane.firings.trigger(NAME, Overlap.ALLOW, asked("one"))
    other = await plane.firings.trigger(NAME, Overlap.ALLOW, asked("two"))
    assert first.firing == again.firing != other.firing
    assert [one.is_new for one in (first, again, other)] == [True, False, True]
    assert len(await plane.all_jobs()) == 2
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 5 * MINUTE


async def test_a_triggered_job_counts_as_one_of_the_schedule(plane: Plane) -> None:
    """The next firing is skipped while it is unfinished."""
    await plane.create()
    await plane.firings.trigger(NAME, Overlap.ALLOW, asked("one"))
    await plane.fire(5 * MINUTE)
    assert [row.outcome.value for row in await plane.ledger()] == ["fired", "skipped"]


async def test_a_trigger_can_wait(plane: Plane) -> None:
    """By its own overlap policy."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.firings.trigger(NAME, Overlap.QUEUE_ONE, asked("one"))
    assert len(await plane.all_jobs()) == 1
    await plane.end(*await plane.claim())
    await plane.round()
    assert len(await plane.all_jobs()) == 2


async def test_fifty_due_schedules_and_eight_schedulers_make_fifty_jobs(plane: Plane) -> None:
    """B057: each is decided by exactly one of them."""
    for number in range(50):
        await plane.create(f"schedule-{number}")
    plane.clock.advance(5 * MINUTE)
    schedulers = [PostgresFiringStore(plane.database) for _ in range(8)]
    fired = await asyncio.gather(*(one.fire(10) for one in schedulers))
    fired += await asyncio.gather(*(one.fire(10) for one in schedulers))
    assert sum(one.schedules for one in fired) == 50
    assert len({job.effect_key for job in await plane.all_jobs()}) == 50
    assert len(await plane.all_jobs()) == 50


async def test_a_clock_that_steps_fires_no_slot_twice_and_leaves_none_out(plane: Plane) -> None:
    """An hour forward and an hour back, several times."""
    await plane.create(missed=Missed.ALL, overlap=Overlap.ALLOW)
    for step in (60, -60, 90, -30, 60):
        await plane.fire(step * MINUTE)
    fire_times = [job.scheduled_for for job in await plane.all_jobs()]
    assert fire_times == [MIDNIGHT + 5 * number * MINUTE for number in range(1, 25)]


@pytest.mark.unproven("definitions are changed without events")
async def test_rows_that_nobody_can_read_hold_up_no_other(plane: Plane) -> None:
    """However many were due before it: those of a newer version, after a step back to an older one."""
    for number in range(5):
        await plane.create(f"newer-{number}", overlap=Overlap.QUEUE_ONE)
    await plane.create("readable", overlap=Overlap.QUEUE_ONE)
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as other:
        await other.execute(
            "UPDATE fencepost.schedules SET definition = jsonb_set(definition, '{overlap}', '\"newer\"')"
            " WHERE name LIKE 'newer-%'"
        )
    await plane.end(*await plane.claim(6))
    assert (await plane.firings.release(2)).schedules == 1
    plane.clock.advance(5 * MINUTE)
    assert (await plane.firings.fire(2)).schedules == 1
    assert len(await plane.ledger("readable")) == 3
