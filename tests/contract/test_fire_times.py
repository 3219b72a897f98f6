"""Fire times of the clock: each gets one decision, in memory and in PostgreSQL the same."""

from datetime import timedelta

import pytest

from fencepost.domain.firing import BATCH_FIRED, BATCH_TIMES, due_at
from fencepost.domain.schedule import Missed, Overlap
from support.schedules import MIDNIGHT, MINUTE
from support.time_plane import TimePlane

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
OUTAGE = 6 * HOUR + MINUTE


async def test_each_fire_time_gets_one_decision_and_one_job(plane: TimePlane) -> None:
    """However often the round comes by, before, at and after it."""
    await plane.create()
    for _ in range(4):
        await plane.fire(5 * MINUTE - MICROSECOND)
        await plane.fire(MICROSECOND)
        await plane.fire()
        await plane.finish()
    assert await plane.told() == [(5 * n, "fired", "due", 1) for n in (1, 2, 3, 4)]
    assert await plane.served() == [5, 10, 15, 20]
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 25 * MINUTE


async def test_a_job_knows_the_fire_time_it_serves(plane: TimePlane) -> None:
    """Decided eight seconds late, it is due at the fire time, with an effect key that no other slot has."""
    await plane.create(payload='{"a": 1}', priority=7, max_attempts=2)
    await plane.fire(5 * MINUTE + 8 * SECOND)
    await plane.finish()
    await plane.fire(5 * MINUTE - 8 * SECOND)
    first, second = await plane.all_jobs()
    slot = MIDNIGHT + 5 * MINUTE
    assert (first.scheduled_for, first.run_at, first.submitted_at) == (slot, slot, slot + 8 * SECOND)
    assert (first.type, first.payload, first.priority, first.max_attempts) == ("work", '{"a": 1}', 7, 2)
    assert first.effect_key
    assert first.effect_key != second.effect_key
    rows = await plane.ledger()
    assert [row.job_id for row in rows] == [first.job_id, second.job_id]


async def test_a_job_is_inserted_in_the_name_of_its_schedule(plane: TimePlane) -> None:
    """The actor of its first event says who wanted it."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    [event] = await plane.lockstep.memory.log.history(1)
    assert event.actor == "schedule:report"


@pytest.mark.parametrize(("late", "count"), [(10 * SECOND, 1), (10 * SECOND + MICROSECOND, 0)])
async def test_ten_seconds_late_is_not_missed(plane: TimePlane, late: timedelta, count: int) -> None:
    """A microsecond more is, and skipped where that is the policy."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(5 * MINUTE + late)
    assert len(await plane.all_jobs()) == count


async def test_latest_catches_up_with_one_job(plane: TimePlane) -> None:
    """B059: of six hours the newest slot fires, and the others are in one row."""
    await plane.create(missed=Missed.LATEST)
    await plane.fire(OUTAGE)
    assert await plane.told() == [(5, "coalesced", "missed", 71), (360, "fired", "missed", 1)]
    assert await plane.served() == [360]
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 365 * MINUTE


async def test_all_fires_each_in_order_and_in_bounded_batches(plane: TimePlane) -> None:
    """B059: every one of more than a batch."""
    await plane.create(cron="* * * * *", missed=Missed.ALL, overlap=Overlap.ALLOW)
    rounds = await plane.fire(2 * HOUR + 30 * SECOND, limit=1)
    assert rounds > 1
    assert len(await plane.all_jobs()) == 120 > BATCH_FIRED
    assert await plane.served() == list(range(1, 121))
    assert await plane.told() == [(n, "fired", "missed", 1) for n in range(1, 121)]


async def test_skip_leaves_one_row_that_counts(plane: TimePlane) -> None:
    """B060: no job for 72 slots, from the first to the last."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(OUTAGE)
    [row] = await plane.ledger()
    assert (row.fire_at, row.until, row.count) == (MIDNIGHT + 5 * MINUTE, MIDNIGHT + 6 * HOUR, 72)
    assert await plane.told() == [(5, "skipped", "missed", 72)]
    assert await plane.all_jobs() == []


async def test_a_backlog_of_any_length_is_one_row(plane: TimePlane) -> None:
    """It takes several transactions, and the last one's newest slot is the newest of all."""
    await plane.create(cron="* * * * *", missed=Missed.LATEST)
    days = timedelta(days=10)
    assert days / MINUTE > 2 * BATCH_TIMES
    await plane.fire(days + 30 * SECOND, limit=1)
    total = round(days / MINUTE)
    assert await plane.told() == [(1, "coalesced", "missed", total - 1), (total, "fired", "missed", 1)]


async def test_what_is_older_than_the_window_is_skipped(plane: TimePlane) -> None:
    """Whatever becomes of those inside it; exactly as old as the window is inside."""
    await plane.create(missed=Missed.ALL, overlap=Overlap.ALLOW, catchup_window=HOUR)
    await plane.fire(6 * HOUR)
    told = await plane.told()
    assert told[0] == (5, "skipped", "window", 59)
    assert [row[0] for row in told[1:]] == list(range(300, 361, 5))
    assert {row[1] for row in told[1:]} == {"fired"}


async def test_skips_for_different_reasons_do_not_share_a_row(plane: TimePlane) -> None:
    """One is too old, the other is missed; what follows on time fires."""
    await plane.create(missed=Missed.SKIP, catchup_window=10 * MINUTE)
    await plane.fire(30 * MINUTE)
    assert await plane.told() == [
        (5, "skipped", "window", 3),
        (20, "skipped", "missed", 2),
        (30, "fired", "due", 1),
    ]


async def test_one_row_grows_over_rounds_until_something_else_is_decided(plane: TimePlane) -> None:
    """Consecutive skips share it; after a firing the next ones have one of their own."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    [token] = await plane.claim()
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    assert await plane.told() == [(5, "fired", "due", 1), (10, "skipped", "overlap", 3)]
    await plane.end(token)
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    assert (await plane.told())[2:] == [(25, "fired", "due", 1), (30, "skipped", "overlap", 1)]


async def test_jitter_delays_the_job_by_what_its_slot_says(plane: TimePlane) -> None:
    """The decision is about the fire time; the job is due later, by less than the jitter, alike everywhere."""
    jitter = 2 * MINUTE
    for name in ("one", "two"):
        await plane.create(name, jitter=jitter, overlap=Overlap.ALLOW)
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    delays = []
    for name in ("one", "two"):
        timing = (await plane.schedule(name)).definition.timing
        for row in await plane.ledger(name):
            assert row.job_id is not None
            job = await plane.lockstep.memory.reader.get(row.job_id)
            assert job is not None
            assert job.scheduled_for == row.fire_at
            assert job.run_at == due_at(name, timing, row.fire_at)
            delays.append(job.run_at - row.fire_at)
    assert all(timedelta(0) <= delay < jitter for delay in delays)
    assert len(set(delays)) == 4


async def test_a_schedule_fires_from_its_start_to_its_end(plane: TimePlane) -> None:
    """Both belong to it; afterwards nothing is due any more."""
    start, end = MIDNIGHT + 10 * MINUTE, MIDNIGHT + 20 * MINUTE
    await plane.create(starts_at=start, ends_at=end, overlap=Overlap.ALLOW)
    for _ in range(6):
        await plane.fire(5 * MINUTE)
    assert await plane.served() == [10, 15, 20]
    assert (await plane.schedule()).next_fire_at is None


async def test_an_interval_is_counted_from_the_start(plane: TimePlane) -> None:
    """Wherever it was created and however late it is decided."""
    await plane.create(cron="every 7m", starts_at=MIDNIGHT - 3 * MINUTE, overlap=Overlap.ALLOW)
    await plane.fire(4 * MINUTE)
    await plane.fire(7 * MINUTE + 5 * SECOND)
    assert await plane.served() == [4, 11]
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 18 * MINUTE


async def test_schedules_are_decided_apart_from_each_other(plane: TimePlane) -> None:
    """So many at a time; nobody's job stands in another's way."""
    for name, cron in (("a", "*/5 * * * *"), ("b", "*/3 * * * *"), ("c", "0 12 * * *"), ("d", "*/5 * * * *")):
        await plane.create(name, cron=cron)
    assert await plane.fire(5 * MINUTE, limit=2) == 2
    assert await plane.served() == [5, 5, 3]
    assert await plane.told("b") == [(3, "fired", "missed", 1)]
    assert await plane.told("c") == []


async def test_who_is_on_time_goes_before_who_catches_up(plane: TimePlane) -> None:
    """However much that is; of those who catch up, who is behind the longest goes first."""
    for name, cron in (("a", "1-3 * * * *"), ("b", "*/5 * * * *"), ("c", "2-4 * * * *")):
        await plane.create(name, cron=cron, missed=Missed.ALL)
    plane.clock.advance(5 * MINUTE)
    served = []
    for _ in range(3):
        await plane.step(lambda one: one.firings.fire(1))
        served.append(await plane.served())
    assert served == [[5], [5, 1, 2, 3], [5, 1, 2, 3, 2, 3, 4]]


async def test_a_round_tells_when_the_next_fire_time_is(plane: TimePlane) -> None:
    """To the microsecond; without an active schedule there is none."""
    fire = await plane.step(lambda one: one.firings.fire(100))
    assert (fire.schedules, fire.full, fire.next_in) == (0, False, None)
    await plane.create()
    plane.clock.advance(MICROSECOND)
    fire = await plane.step(lambda one: one.firings.fire(100))
    assert (fire.schedules, fire.next_in) == (0, 5 * MINUTE - MICROSECOND)
    await plane.pause()
    assert (await plane.step(lambda one: one.firings.fire(100))).next_in is None
