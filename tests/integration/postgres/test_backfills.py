"""Backfills on PostgreSQL: a range of the past is fired once more, batch by batch, whoever is killed in between."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.adapters.postgres.query import Plan
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.backfill import Backfill, Ending, Wanted
from fencepost.domain.commands import Cancel, Requeue
from fencepost.domain.errors import BackfillNotFound, InvalidInput, KeyConflict, ScheduleNotFound
from fencepost.domain.event import ControlEvent
from fencepost.domain.schedule import Overlap
from fencepost.domain.vocabulary import State, Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, definition, plane_over
from support.stores import Clock

HOUR = timedelta(hours=1)


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


async def backfill(plane: Plane, minutes: int = 60, request_id: str = "one", **fields: Any) -> Backfill:
    """Ask for the last minutes."""
    now = plane.clock.now
    wanted = Wanted(**{"from_at": now - minutes * MINUTE, "to_at": now, **fields})
    return (await plane.backfills.request(NAME, wanted, asked(request_id))).backfill


async def advance(plane: Plane) -> int:
    """Go on until nothing more can be decided now; return how many rounds decided something."""
    rounds = 0
    while (await plane.backfills.advance(100)).full:
        rounds += 1
    return rounds


async def newest(plane: Plane) -> Backfill:
    """The last one that was asked for."""
    return (await plane.backfills.list(NAME))[0]


async def events(plane: Plane) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Name, actor and data of what was noted about backfills."""
    page = await PostgresEventLog(plane.database).page(LogFilter(), limit=1_000)
    return [
        (one.name.value, one.actor, dict(one.data))
        for one in page
        if isinstance(one, ControlEvent) and "backfill" in one.name.value
    ]


async def test_a_range_before_the_schedule_makes_a_job_of_each_fire_time(plane: Plane) -> None:
    """Created at midnight, backfilled for the hour before: due at once, in the order of their fire times."""
    await plane.create(queue="mail", priority=8)
    plane.clock.advance(timedelta(seconds=7))
    begun = await backfill(plane, from_at=MIDNIGHT - HOUR, to_at=MIDNIGHT)
    assert (begun.total, begun.next_at) == (13, MIDNIGHT - HOUR)
    assert await advance(plane) == 1
    jobs = await plane.all_jobs()
    assert [job.scheduled_for for job in jobs] == [MIDNIGHT - HOUR + 5 * n * MINUTE for n in range(13)]
    assert {(job.queue, job.priority, job.run_at) for job in jobs} == {("mail", 8, plane.clock.now)}
    assert jobs[0].effect_key == f"schedule:report:2029-12-31T23:00:00.000000Z:{begun.backfill_id}"


async def test_the_ledger_has_a_decision_about_each_fire_time(plane: Plane) -> None:
    """With its job, in the name of the backfill; the clock's firings of the same slots stay what they were."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    begun = await backfill(plane, 5)
    await advance(plane)
    rows = [row for row in await plane.ledger() if row.origin == begun.backfill_id]
    assert [(row.outcome.value, row.reason.value) for row in rows] == [("backfilled", "asked")] * 2
    assert [row.job_id for row in rows] == [job.job_id for job in (await plane.all_jobs())[1:]]
    assert (await plane.told())[1:] == [(5, "fired", "due", 1), (5, "backfilled", "asked", 1)]


async def test_the_priority_may_be_its_own(plane: Plane) -> None:
    """The clock's jobs keep the template's."""
    await plane.create(priority=7)
    await backfill(plane, 0, priority=1)
    await advance(plane)
    await plane.fire(5 * MINUTE)
    assert [job.priority for job in await plane.all_jobs()] == [1, 7]
    assert (await plane.schedule()).definition.template.priority == 7


async def test_batches_are_bounded_and_tell_how_far_it_is(plane: Plane) -> None:
    """A hundred jobs in one transaction."""
    await plane.create(cron="* * * * *")
    await backfill(plane, 249)
    progress = []
    for _ in range(4):
        fired = await plane.backfills.advance(100)
        one = await newest(plane)
        progress.append((fired.full, one.decided, one.fired, one.ending))
    assert progress == [
        (True, 100, 100, None),
        (True, 200, 200, None),
        (True, 250, 250, Ending.DONE),
        (False, 250, 250, Ending.DONE),
    ]
    assert len(await plane.all_jobs()) == 250


async def test_another_scheduler_goes_on_where_one_was_killed(plane: Plane) -> None:
    """Between two batches, and in the middle of one: what was not committed did not happen."""
    await plane.create(cron="* * * * *")
    await backfill(plane, 249)
    victim = Database(plane.dsn, clock=plane.clock, pool_size=1)
    await PostgresBackfillStore(victim).advance(100)
    with pytest.raises(ZeroDivisionError):
        await victim.run(lambda: _cut_short(PostgresBackfillStore(victim)))
    await victim.close()
    assert await advance(plane) == 2
    jobs = await plane.all_jobs()
    assert len({job.scheduled_for for job in jobs}) == len(jobs) == 250


def _cut_short(store: PostgresBackfillStore) -> Plan[None]:
    """Run all statements of a batch, and break before the commit."""
    yield from store._advance(100, lambda _: None)
    raise ZeroDivisionError


async def test_two_schedulers_never_decide_a_fire_time_twice(plane: Plane) -> None:
    """Nor does a third; what one has locked, the others pass by."""
    await plane.create(cron="* * * * *")
    await backfill(plane, 999)
    databases = [Database(plane.dsn, clock=plane.clock, pool_size=1) for _ in range(3)]
    while (await newest(plane)).next_at is not None:
        await asyncio.gather(*(PostgresBackfillStore(one).advance(50) for one in databases))
    for one in databases:
        await one.close()
    jobs = await plane.all_jobs()
    assert len({job.scheduled_for for job in jobs}) == len(jobs) == 1_000
    assert (await newest(plane)).fired == 1_000


async def test_different_backfills_go_on_side_by_side(plane: Plane) -> None:
    """One that waits for a job to end holds no other up."""
    await plane.create()
    await backfill(plane, 10, "serial", overlap=Overlap.QUEUE_ONE)
    await advance(plane)
    plane.clock.advance(MINUTE)
    await backfill(plane, 10, "beside")
    await advance(plane)
    assert [(one.decided, one.ending) for one in await plane.backfills.list(NAME)] == [
        (2, Ending.DONE),
        (1, None),
    ]


async def test_the_same_request_is_the_same_backfill(plane: Plane) -> None:
    """Asked again it is answered with how far that is; another one needs an id of its own."""
    await plane.create()
    begun = await backfill(plane)
    assert await backfill(plane) == begun
    await advance(plane)
    assert (await backfill(plane)).decided == 13
    assert await advance(plane) == 0
    assert len(await plane.all_jobs()) == 13
    with pytest.raises(KeyConflict):
        await backfill(plane, 30)
    assert (await backfill(plane, request_id="two")).backfill_id != begun.backfill_id


async def test_a_request_id_serves_several_schedules(plane: Plane) -> None:
    """Each has its own backfill."""
    await plane.create()
    await plane.create("other")
    wanted = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT)
    requested = [await plane.backfills.request(name, wanted, USER) for name in (NAME, "other")]
    assert [one.is_new for one in requested] == [True, True]
    assert len({one.backfill.backfill_id for one in requested}) == 2


async def test_jobs_beside_others_are_not_the_schedules(plane: Plane) -> None:
    """The clock's firings go on, although the schedule skips what overlaps: that is what a priority is for."""
    await plane.create(overlap=Overlap.SKIP)
    await backfill(plane, 10)
    await advance(plane)
    await plane.fire(5 * MINUTE)
    assert (await plane.told())[-1] == (5, "fired", "due", 1)


async def test_fire_times_that_meet_a_job_are_skipped(plane: Plane) -> None:
    """With the reason; the one that makes a job is one of the schedule's."""
    await plane.create()
    await backfill(plane, 20, overlap=Overlap.SKIP)
    await advance(plane)
    assert await plane.told() == [(-20, "backfilled", "asked", 1), (-15, "skipped", "overlap", 4)]
    await plane.fire(5 * MINUTE)
    assert (await plane.told())[-1] == (5, "skipped", "overlap", 1)
    one = await newest(plane)
    assert (one.decided, one.fired, one.ending) == (5, 1, Ending.DONE)


async def test_one_after_the_other_never_runs_beside_another(plane: Plane) -> None:
    """The next fire time is decided when the schedule has no unfinished job, the clock's included."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.fire(5 * MINUTE)
    await backfill(plane, 10, overlap=Overlap.QUEUE_ONE)
    served = []
    for _ in range(4):
        await advance(plane)
        [job] = [job for job in await plane.all_jobs() if not job.terminal]
        served.append(job.scheduled_for)
        await plane.end(*await plane.claim())
    assert served == [MIDNIGHT + minutes * MINUTE for minutes in (5, -5, 0, 5)]
    await advance(plane)
    assert (await newest(plane)).ending is Ending.DONE


async def test_the_clocks_firing_that_waits_goes_before_the_next_of_a_backfill(plane: Plane) -> None:
    """By the schedule's own policy it waits for the backfill's job, and no longer."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await backfill(plane, 10, overlap=Overlap.QUEUE_ONE)
    await advance(plane)
    await plane.round(5 * MINUTE)
    await plane.end(*await plane.claim())
    assert await advance(plane) == 0
    await plane.round()
    assert [job.scheduled_for for job in await plane.all_jobs()] == [
        MIDNIGHT - 10 * MINUTE,
        MIDNIGHT + 5 * MINUTE,
    ]


async def test_a_job_that_is_put_back_is_waited_for(plane: Plane) -> None:
    """An operator requeues the last one: it is unfinished again."""
    await plane.create()
    await backfill(plane, 10, overlap=Overlap.QUEUE_ONE)
    await advance(plane)
    [token] = await plane.claim()
    await plane.die(token)
    await plane.jobs.operate([token.job_id], Requeue(origin=USER))
    assert await advance(plane) == 0
    await plane.jobs.operate([token.job_id], Cancel(origin=USER))
    assert await advance(plane) == 1


async def test_a_pause_stops_the_clock_and_no_backfill(plane: Plane) -> None:
    """Whoever has paused a schedule may want to catch up by hand."""
    await plane.create()
    await plane.schedules.pause(NAME, USER)
    await backfill(plane, 10)
    await advance(plane)
    assert len(await plane.all_jobs()) == 3
    assert (await plane.schedule()).next_fire_at is None


async def test_a_backfill_leaves_the_next_fire_time_alone(plane: Plane) -> None:
    """And the version, and everything else about the schedule but its unfinished jobs."""
    before = await plane.create()
    await backfill(plane, 10)
    await advance(plane)
    assert await plane.schedule() == before


async def test_an_edit_changes_the_jobs_to_come_and_not_the_range(plane: Plane) -> None:
    """The fire times are those of the expression when it was asked for, the payload is the one of now."""
    await plane.create(cron="* * * * *")
    await backfill(plane, 149)
    await plane.backfills.advance(100)
    await plane.schedules.edit(NAME, definition("0 12 * * *", payload='{"a":2}'), USER)
    await advance(plane)
    payloads = [job.payload for job in await plane.all_jobs()]
    assert payloads == ['{"a":1}'] * 100 + ['{"a":2}'] * 50


async def test_a_deleted_schedule_ends_its_backfills(plane: Plane) -> None:
    """In the middle; a new schedule of the same name does not go on with them."""
    await plane.create(cron="* * * * *")
    await backfill(plane, 249)
    await plane.backfills.advance(100)
    await plane.schedules.delete(NAME, USER)
    await plane.create(cron="* * * * *")
    assert await advance(plane) == 0
    one = await newest(plane)
    assert (one.ending, one.decided, one.next_at) == (Ending.DELETED, 100, None)
    name, actor, data = (await events(plane))[-1]
    assert (name, actor) == ("schedule_backfill_ended", "user:test")
    assert (data["ending"], data["decided"], data["fired"]) == ("deleted", 100, 100)


async def test_a_backfill_can_be_stopped(plane: Plane) -> None:
    """Once; what it has made stays."""
    await plane.create(cron="* * * * *")
    begun = await backfill(plane, 249)
    await plane.backfills.advance(100)
    assert await plane.backfills.stop(begun.backfill_id, USER) is Verdict.ACCEPTED
    assert await plane.backfills.stop(begun.backfill_id, USER) is Verdict.ALREADY_APPLIED
    assert await advance(plane) == 0
    assert (await newest(plane)).ending is Ending.STOPPED
    assert {job.state for job in await plane.all_jobs()} == {State.PENDING}
    with pytest.raises(BackfillNotFound):
        await plane.backfills.stop("backfill:none", USER)


async def test_beginning_and_end_are_in_the_history(plane: Plane) -> None:
    """Who asked for what, and what came of it."""
    await plane.create()
    begun = await backfill(plane, 10, priority=2)
    await advance(plane)
    assert await events(plane) == [
        (
            "schedule_backfill_started",
            "user:test",
            {
                "backfill_id": begun.backfill_id,
                "from": "2029-12-31T23:50:00.000000Z",
                "to": "2030-01-01T00:00:00.000000Z",
                "priority": 2,
                "overlap": "allow",
                "fire_times": 3,
            },
        ),
        (
            "schedule_backfill_ended",
            "schedule:report",
            {"backfill_id": begun.backfill_id, "ending": "done", "decided": 3, "fired": 3},
        ),
    ]


async def test_a_range_without_fire_times_is_over_at_once(plane: Plane) -> None:
    """Beginning and end are noted all the same."""
    await plane.create(cron="0 12 * * *")
    assert (await backfill(plane, 60)).ending is Ending.DONE
    assert await advance(plane) == 0
    assert [name for name, _, _ in await events(plane)] == [
        "schedule_backfill_started",
        "schedule_backfill_ended",
    ]


async def test_what_cannot_be_backfilled_is_refused(plane: Plane) -> None:
    """And leaves nothing behind."""
    with pytest.raises(ScheduleNotFound):
        await backfill(plane)
    await plane.create(cron="* * * * *")
    for fields in (
        {"to_at": MIDNIGHT + MINUTE},
        {"from_at": MIDNIGHT - 10_000 * MINUTE},
        {"overlap": Overlap.CANCEL_RUNNING},
    ):
        with pytest.raises(InvalidInput):
            await backfill(plane, **fields)
    assert (await plane.backfills.list(NAME), await events(plane)) == ([], [])


async def test_its_size_is_known_before_it_is_asked_for(plane: Plane) -> None:
    """By the same rules, and without changing anything."""
    wanted = Wanted(from_at=MIDNIGHT - HOUR, to_at=MIDNIGHT)
    with pytest.raises(ScheduleNotFound):
        await plane.backfills.size(NAME, wanted)
    await plane.create()
    assert await plane.backfills.size(NAME, wanted) == 13
    with pytest.raises(InvalidInput):
        await plane.backfills.size(NAME, Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT + MINUTE))
    assert await plane.backfills.list(NAME) == []
