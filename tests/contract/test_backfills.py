"""Backfills, in memory and on PostgreSQL: after every step both have the same jobs, ledger, events and progress."""

import pytest
from attrs import evolve

from fencepost.domain.backfill import Ending, Wanted
from fencepost.domain.errors import BackfillNotFound, InvalidInput, KeyConflict, ScheduleNotFound
from fencepost.domain.schedule import Overlap
from fencepost.domain.vocabulary import Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, asked
from support.time_plane import TimePlane

HALF_AN_HOUR = Wanted(from_at=MIDNIGHT - 30 * MINUTE, to_at=MIDNIGHT)


async def test_each_fire_time_of_the_range_makes_a_job(plane: TimePlane) -> None:
    """Batch by batch, with a priority of its own."""
    await plane.create(jitter=MINUTE)
    assert (await plane.backfill(30, priority=2)).total == 7
    assert await plane.advance(limit=3) == 3
    assert await plane.served() == [-30, -25, -20, -15, -10, -5, 0]
    assert {(job.priority, job.run_at) for job in await plane.all_jobs()} == {(2, plane.clock())}
    [over] = await plane.backfills()
    assert (over.decided, over.fired, over.ending) == (7, 7, Ending.DONE)


async def test_jobs_that_run_beside_others_are_not_the_schedules(plane: TimePlane) -> None:
    """The clock's firings go on."""
    before = await plane.create(overlap=Overlap.SKIP)
    await plane.backfill(10)
    await plane.advance()
    assert await plane.schedule() == before
    await plane.fire(5 * MINUTE)
    assert (await plane.told())[-1] == (5, "fired", "due", 1)


async def test_fire_times_that_meet_a_job_are_skipped(plane: TimePlane) -> None:
    """The first makes one, unless the schedule has one already."""
    await plane.create()
    await plane.backfill(20, "one", overlap=Overlap.SKIP)
    await plane.advance()
    plane.clock.advance(MINUTE)
    await plane.backfill(21, "two", overlap=Overlap.SKIP)
    await plane.advance()
    assert [(one.decided, one.fired) for one in await plane.backfills()] == [(5, 0), (5, 1)]
    assert await plane.served() == [-20]


async def test_one_comes_after_the_other(plane: TimePlane) -> None:
    """Also after what waits by the clock, and after a job that somebody has put back."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.backfill(10, overlap=Overlap.QUEUE_ONE)
    assert await plane.advance() == 1
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.end(token)
    await plane.requeue(token.job_id)
    assert await plane.advance() == 0
    await plane.finish()
    assert await plane.advance() == 0
    await plane.round()
    assert await plane.served() == [-10, 5]
    for _ in range(2):
        await plane.finish()
        await plane.advance()
    assert await plane.served() == [-10, 5, -5, 0]
    assert (await plane.backfills())[0].ending is Ending.DONE


async def test_a_paused_schedule_is_backfilled(plane: TimePlane) -> None:
    """What waits for it to be resumed holds nothing up."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    await plane.pause()
    await plane.finish()
    await plane.backfill(0, overlap=Overlap.QUEUE_ONE)
    assert await plane.advance() == 1


async def test_the_first_that_can_go_on_does(plane: TimePlane) -> None:
    """In the order in which they were asked for; two of the same moment by their ids."""
    await plane.create()
    await plane.create("other")
    await plane.backfill(10, "serial", overlap=Overlap.QUEUE_ONE)
    await plane.backfill(10, "beside")
    await plane.backfill(10, "of another", name="other")
    plane.clock.advance(MINUTE)
    await plane.backfill(10, "later")
    assert await plane.advance(limit=2) == 2 + 1 + 2 + 1
    await plane.finish()
    await plane.advance()


async def test_a_request_is_answered_once(plane: TimePlane) -> None:
    """The same again gets the same backfill, another one under the same id is refused."""
    await plane.create()
    await plane.backfill(30)
    await plane.advance()
    assert (await plane.backfill(30)).decided == 7
    other = evolve(HALF_AN_HOUR, priority=1)
    request = asked("one")
    assert (
        await plane.lockstep.refused(lambda one: one.backfills.request(NAME, other, request)) is KeyConflict
    )


async def test_it_ends_when_somebody_says_so_or_with_its_schedule(plane: TimePlane) -> None:
    """Jobs that are there stay; a schedule made anew does not go on with it."""
    await plane.create()
    await plane.create("other")
    stopped = await plane.backfill(30, "one")
    await plane.backfill(30, "two", name="other")
    assert await plane.stop_backfill(stopped.backfill_id) is Verdict.ACCEPTED
    assert await plane.stop_backfill(stopped.backfill_id) is Verdict.ALREADY_APPLIED
    await plane.delete("other")
    await plane.create("other")
    assert await plane.advance() == 0
    endings = [(await plane.backfills(name))[0].ending for name in (NAME, "other")]
    assert endings == [Ending.STOPPED, Ending.DELETED]


async def test_an_empty_range_is_over_at_once(plane: TimePlane) -> None:
    """Beginning and end are noted."""
    await plane.create(cron="0 12 * * *")
    assert (await plane.backfill(30)).ending is Ending.DONE
    assert await plane.advance() == 0


@pytest.mark.parametrize(
    "wanted",
    [
        evolve(HALF_AN_HOUR, to_at=MIDNIGHT + MINUTE),
        evolve(HALF_AN_HOUR, to_at=MIDNIGHT - 31 * MINUTE),
        evolve(HALF_AN_HOUR, from_at=MIDNIGHT - 10_000 * MINUTE),
        evolve(HALF_AN_HOUR, overlap=Overlap.CANCEL_RUNNING),
        evolve(HALF_AN_HOUR, priority=10),
    ],
)
async def test_what_cannot_be_backfilled_is_refused_alike(plane: TimePlane, wanted: Wanted) -> None:
    """In the same words, whether it is asked for or only counted."""
    both = plane.lockstep
    assert await both.refused(lambda one: one.backfills.request(NAME, wanted, USER)) is ScheduleNotFound
    assert await both.refused(lambda one: one.backfills.size(NAME, wanted)) is ScheduleNotFound
    await plane.create(cron="* * * * *")
    assert await both.refused(lambda one: one.backfills.request(NAME, wanted, USER)) is InvalidInput
    assert await both.refused(lambda one: one.backfills.size(NAME, wanted)) is InvalidInput
    assert await both.refused(lambda one: one.backfills.stop("backfill:none", USER)) is BackfillNotFound
    assert await both.both(lambda one: one.backfills.size(NAME, HALF_AN_HOUR)) == 31
    await plane.agree()
