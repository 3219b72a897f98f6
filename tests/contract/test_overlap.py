"""Overlap: what becomes of a firing while the schedule's job is unfinished, and of firings that people ask for."""

from datetime import timedelta

import pytest

from fencepost.domain.errors import KeyConflict, ScheduleNotFound
from fencepost.domain.firing import Outcome, Reason
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.vocabulary import ControlEventName, EventName, State
from support.schedules import MIDNIGHT, MINUTE, NAME, asked
from support.time_plane import TimePlane

SECOND = timedelta(seconds=1)
PENDING, RUNNING, CANCELLED = State.PENDING, State.RUNNING, State.CANCELLED


async def test_allow_fires_beside_unfinished_jobs(plane: TimePlane) -> None:
    """As many as there are fire times."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(3):
        await plane.round(5 * MINUTE)
    assert await plane.states() == [PENDING] * 3


@pytest.mark.parametrize("running", [False, True])
async def test_skip_passes_over_while_a_job_is_unfinished(plane: TimePlane, running: bool) -> None:
    """Waiting or running is the same; however it ends, the next one fires."""
    await plane.create()
    await plane.round(5 * MINUTE)
    if running:
        await plane.claim()
    await plane.round(5 * MINUTE)
    assert await plane.told() == [(5, "fired", "due", 1), (10, "skipped", "overlap", 1)]
    await (
        plane.end(*[job.token for job in await plane.all_jobs() if job.token]) if running else plane.cancel(1)
    )
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 15]


async def test_a_job_between_two_attempts_is_unfinished(plane: TimePlane) -> None:
    """A failed attempt that is tried again is no end, an operator's requeue none either."""
    await plane.create()
    await plane.round(5 * MINUTE)
    await plane.end(*await plane.claim())
    await plane.requeue(1)
    await plane.round(5 * MINUTE)
    assert (await plane.told())[-1] == (10, "skipped", "overlap", 1)


async def test_queue_one_lets_one_wait_until_the_other_has_ended(plane: TimePlane) -> None:
    """It is decided at its fire time and inserted at the end of the one before; those after it are skipped."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    for _ in range(3):
        await plane.round(5 * MINUTE)
    assert await plane.told() == [
        (5, "fired", "due", 1),
        (10, "queued", "due", 1),
        (15, "skipped", "overlap", 2),
    ]
    assert await plane.served() == [5]
    await plane.end(token)
    await plane.release()
    assert await plane.served() == [5, 10]
    assert (await plane.schedule()).waiting is None
    assert [row.job_id for row in await plane.ledger()] == [1, 2, None]
    await plane.release()
    assert await plane.served() == [5, 10]


@pytest.mark.parametrize("policy", [Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING])
async def test_an_edit_that_lets_jobs_overlap_lets_go_what_waits(plane: TimePlane, policy: Overlap) -> None:
    """Nothing is left to wait for, and what would be asked to stop goes on."""
    await plane.create(overlap=policy)
    await plane.round(5 * MINUTE)
    await plane.claim()
    await plane.fire(5 * MINUTE)
    await plane.edit("*/5 * * * *", overlap=Overlap.ALLOW)
    await plane.release()
    assert await plane.served() == [5, 10]
    assert (await plane.schedule()).waiting is None


async def test_a_trigger_that_waits_waits_for_jobs_that_overlap_too(plane: TimePlane) -> None:
    """Who asked for it has said that it should."""
    await plane.create(overlap=Overlap.ALLOW)
    await plane.round(5 * MINUTE)
    tokens = await plane.claim()
    await plane.trigger("one", Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 10]
    await plane.end(*tokens, *await plane.claim())
    await plane.release()
    assert len(await plane.served()) == 3


async def test_a_released_job_is_the_schedules_job(plane: TimePlane) -> None:
    """The next firing waits for it."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await plane.end(*await plane.claim())
    await plane.round(MINUTE)
    await plane.round(4 * MINUTE)
    assert (await plane.told())[-1] == (15, "queued", "due", 1)
    assert (await plane.states())[1:] == [PENDING]


async def test_a_firing_does_not_pass_one_that_waits(plane: TimePlane) -> None:
    """Though the job before has ended, the waiting one's turn comes first."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.end(token)
    await plane.fire(5 * MINUTE)
    await plane.release()
    assert await plane.told() == [
        (5, "fired", "due", 1),
        (10, "queued", "due", 1),
        (15, "skipped", "overlap", 1),
    ]
    assert await plane.served() == [5, 10]


async def test_cancel_running_asks_the_job_to_stop_and_takes_its_place(plane: TimePlane) -> None:
    """Once, in the name of the schedule; the new one is inserted when the old one has ended."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.round(SECOND)
    assert (await plane.told())[-1] == (10, "queued", "due", 1)
    history = await plane.lockstep.memory.log.history(1)
    assert [event.name for event in history][2:] == [EventName.CANCEL_REQUESTED]
    assert history[-1].actor == "schedule:report"
    await plane.stop(token)
    await plane.round(SECOND)
    assert await plane.states() == [CANCELLED, PENDING]
    assert await plane.served() == [5, 10]


async def test_cancel_running_replaces_a_job_that_has_not_begun(plane: TimePlane) -> None:
    """It is cancelled at once, and the new one takes its place."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    assert await plane.states() == [CANCELLED, PENDING]


async def test_a_backlog_overlaps_with_itself(plane: TimePlane) -> None:
    """Of three missed ones the first fires, the second waits for it, the third is too many."""
    await plane.create(overlap=Overlap.QUEUE_ONE, missed=Missed.ALL)
    await plane.round(16 * MINUTE)
    assert await plane.told() == [
        (5, "fired", "missed", 1),
        (10, "queued", "missed", 1),
        (15, "skipped", "overlap", 1),
    ]


@pytest.mark.parametrize(
    ("overlap", "outcome", "reason"),
    [
        (Overlap.ALLOW, Outcome.FIRED, Reason.ASKED),
        (Overlap.SKIP, Outcome.SKIPPED, Reason.OVERLAP),
        (Overlap.QUEUE_ONE, Outcome.QUEUED, Reason.ASKED),
        (Overlap.CANCEL_RUNNING, Outcome.QUEUED, Reason.ASKED),
    ],
)
async def test_a_trigger_has_an_overlap_policy_of_its_own(
    plane: TimePlane, overlap: Overlap, outcome: Outcome, reason: Reason
) -> None:
    """Whatever the schedule's is; the clock's next fire time stays what it was."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING if overlap is Overlap.SKIP else Overlap.SKIP)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    plane.clock.advance(MINUTE)
    firing = await plane.trigger("r-1", overlap)
    assert (firing.outcome, firing.reason, firing.fire_at) == (outcome, reason, MIDNIGHT + 6 * MINUTE)
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 10 * MINUTE
    assert (await plane.all_jobs())[0].cancel_requested is (overlap is Overlap.CANCEL_RUNNING)
    await (plane.stop(token) if overlap is Overlap.CANCEL_RUNNING else plane.end(token))
    await plane.release()
    assert len(await plane.all_jobs()) == (1 if overlap is Overlap.SKIP else 2)


async def test_a_trigger_without_an_unfinished_job_fires(plane: TimePlane) -> None:
    """Under each policy; the job serves the moment it was asked for."""
    await plane.create()
    for number, overlap in enumerate(Overlap):
        plane.clock.advance(SECOND)
        firing = await plane.trigger(f"r-{number}", overlap)
        assert (firing.outcome, firing.fire_at) == (Outcome.FIRED, plane.clock())
        await plane.finish()
    assert [job.state for job in await plane.all_jobs()] == [State.SUCCEEDED] * 4


async def test_what_somebody_asks_for_does_not_wait_for_the_jitter(plane: TimePlane) -> None:
    """That is for the many who ask for the same minute; one that had to wait is due when its job is inserted."""
    await plane.create(jitter=4 * MINUTE)
    await plane.trigger("one")
    await plane.trigger("two", Overlap.QUEUE_ONE)
    plane.clock.advance(MINUTE)
    await plane.finish()
    await plane.release()
    assert [job.run_at - MIDNIGHT for job in await plane.all_jobs()] == [0 * MINUTE, MINUTE]


async def test_a_trigger_fires_once_for_each_request(plane: TimePlane) -> None:
    """Repeated later it gets the first answer; another request is another firing."""
    await plane.create()
    first = await plane.trigger("r-1")
    plane.clock.advance(MINUTE)
    assert await plane.trigger("r-1") == first
    assert (await plane.trigger("r-2")).job_id != first.job_id
    triggered = [
        event for event in await plane.controls() if event.name is ControlEventName.SCHEDULE_TRIGGERED
    ]
    assert [event.request_id for event in triggered] == ["r-1", "r-2"]


async def test_a_request_cannot_come_again_as_another_one(plane: TimePlane) -> None:
    """As with submit keys: under another policy it is a conflict, though the schedule was made anew in between."""
    await plane.create()
    first = await plane.trigger("r-1", Overlap.SKIP)
    await plane.delete()
    await plane.create()
    error = await plane.lockstep.refused(
        lambda one: one.firings.trigger(NAME, Overlap.CANCEL_RUNNING, asked("r-1"))
    )
    assert error is KeyConflict
    assert await plane.trigger("r-1", Overlap.SKIP) == first


async def test_two_triggers_at_one_moment_are_two_firings(plane: TimePlane) -> None:
    """And one at a fire time is another than the clock's."""
    await plane.create(overlap=Overlap.ALLOW)
    plane.clock.advance(5 * MINUTE)
    firings = [await plane.trigger(f"r-{number}") for number in (1, 2)]
    await plane.fire()
    assert len({firing.origin for firing in firings}) == 2
    assert sorted(await plane.told()) == [(5, "fired", "asked", 1)] * 2 + [(5, "fired", "due", 1)]
    assert len({job.effect_key for job in await plane.all_jobs()}) == 3


async def test_a_triggered_job_stands_in_the_way_of_the_clock(plane: TimePlane) -> None:
    """It is the schedule's job like any other."""
    await plane.create()
    await plane.trigger("r-1")
    await plane.round(5 * MINUTE)
    assert (await plane.told())[-1] == (5, "skipped", "overlap", 1)


async def test_a_trigger_is_skipped_while_a_firing_waits(plane: TimePlane) -> None:
    """Only one does at a time, whoever asked for it."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    for number, overlap in enumerate((Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING)):
        firing = await plane.trigger(f"r-{number}", overlap)
        assert (firing.outcome, firing.reason) == (Outcome.SKIPPED, Reason.OVERLAP)
    assert await plane.states() == [PENDING]


@pytest.mark.parametrize("by_trigger", [False, True])
async def test_a_locked_job_is_asked_to_stop_later(plane: TimePlane, by_trigger: bool) -> None:
    """Somebody held its row when the firing was decided: the next round asks again, once is enough."""
    await plane.create(overlap=Overlap.SKIP if by_trigger else Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    async with plane.held_by_another(token.job_id):
        if by_trigger:
            await plane.trigger("r-1", Overlap.CANCEL_RUNNING)
        await plane.round(5 * MINUTE)
        assert not (await plane.all_jobs())[0].cancel_requested
    await plane.release()
    assert (await plane.all_jobs())[0].cancel_requested
    await plane.stop(token)
    await plane.release()
    assert await plane.states() == [CANCELLED, PENDING]


async def test_who_waits_for_its_turn_asks_nobody_to_stop(plane: TimePlane) -> None:
    """A job that somebody starts beside it by hand goes on, too."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.trigger("r-1", Overlap.ALLOW)
    await plane.end(token)
    await plane.release()
    assert await plane.states() == [State.SUCCEEDED, PENDING]
    await plane.finish()
    await plane.release()
    assert len(await plane.all_jobs()) == 3


async def test_a_firing_waits_for_a_job_that_was_put_back(plane: TimePlane) -> None:
    """An operator's requeue makes the last job unfinished again, though the schedule had seen its end."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.round(5 * MINUTE)
    await plane.end(token)
    await plane.fire(5 * MINUTE)
    assert (await plane.schedule()).open_jobs == ()
    await plane.requeue(token.job_id)
    assert await plane.release() == 0
    assert len(await plane.all_jobs()) == 1
    await plane.finish()
    assert await plane.release() == 1
    assert await plane.served() == [5, 10]


@pytest.mark.parametrize("first", ["requeue", "resume"])
async def test_a_resumed_schedule_knows_its_last_job(plane: TimePlane, first: str) -> None:
    """Put back before the resume or right after it, a dead job is unfinished again: nothing fires beside it."""
    await plane.create(pause_on_failure=True)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    await plane.die(token)
    await plane.round(5 * MINUTE)
    assert (await plane.schedule()).paused_at is not None
    if first == "requeue":
        await plane.requeue(token.job_id)
        await plane.resume()
    else:
        await plane.resume()
        await plane.requeue(token.job_id)
    await plane.round(5 * MINUTE)
    assert await plane.states() == [PENDING]
    assert (await plane.told())[-1] == (15, "skipped", "overlap", 1)
    await plane.finish()
    await plane.round(5 * MINUTE)
    assert await plane.served() == [5, 20]


async def test_a_paused_schedule_can_be_triggered(plane: TimePlane) -> None:
    """Somebody who asks knows better; the clock's firings stay away."""
    await plane.create()
    await plane.pause()
    firing = await plane.trigger("r-1")
    await plane.round(30 * MINUTE)
    assert firing.outcome is Outcome.FIRED
    assert len(await plane.all_jobs()) == 1


async def test_what_is_not_there_cannot_be_triggered(plane: TimePlane) -> None:
    """The error says so."""
    error = await plane.lockstep.refused(
        lambda one: one.firings.trigger("nobody", Overlap.ALLOW, asked("r-1"))
    )
    assert error is ScheduleNotFound
