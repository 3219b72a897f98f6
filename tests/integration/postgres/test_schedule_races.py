"""Two changes of one schedule meet: the outcome is that of one after the other, wherever the first is halted."""

from datetime import timedelta

import pytest

from fencepost.adapters.postgres.query import Plan
from fencepost.adapters.postgres.together import CarryOut, Found, Round
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.backfill import Wanted
from fencepost.domain.commands import Cancel, Requeue, Succeed
from fencepost.domain.schedule import Overlap
from support.figures import Note
from support.rig import USER, WORKER
from support.schedule_races import Act, Race
from support.schedules import MIDNIGHT, MINUTE, asked, definition
from support.stores import Clock, Stores

SECOND = timedelta(seconds=1)
LATER = definition("0 12 * * *", overlap=Overlap.SKIP)
OTHER = definition("*/7 * * * *", overlap=Overlap.QUEUE_ONE, payload='{"b":2}')
CLAIM = "00000000-0000-4000-8000-000000000001"


def _whole(find: Plan[Found], carry_out: CarryOut) -> Plan[Round]:
    """What a scheduler does in one transaction."""
    return (yield from carry_out((yield from find)))


FIRE = Act(
    lambda one, _: one.firings.fire(100), lambda one, _: _whole(one.firings._due(100), one.firings._fire)
)
RELEASE = Act(
    lambda one, _: one.firings.release(100),
    lambda one, _: _whole(one.firings._waiting(100), one.firings._release),
)
EDIT = Act(
    lambda one, name: one.schedules.edit(name, LATER, USER),
    lambda one, name: one.schedules._edit(name, LATER, USER, None),
)
EDIT_OTHERWISE = Act(
    lambda one, name: one.schedules.edit(name, OTHER, USER, version=1),
    lambda one, name: one.schedules._edit(name, OTHER, USER, 1),
)
PAUSE = Act(
    lambda one, name: one.schedules.pause(name, USER), lambda one, name: one.schedules._pause(name, USER)
)
DELETE = Act(
    lambda one, name: one.schedules.delete(name, USER),
    lambda one, name: one.schedules._delete(name, USER, None),
)
CREATE = Act(
    lambda one, name: one.schedules.create(name, OTHER, USER),
    lambda one, name: one.schedules._create(name, OTHER, USER),
)


def trigger(overlap: Overlap, request_id: str = "r-1") -> Act:
    """Somebody asks for a firing."""
    origin = asked(request_id)
    return Act(
        lambda one, name: one.firings.trigger(name, overlap, origin),
        lambda one, name: one.firings._trigger(name, overlap, origin),
    )


async def _requeue(stores: Stores, name: str) -> None:
    """Put the job of the first fire time back, which has ended."""
    first = (await stores.schedule_reader.firings(name))[-1].firing
    if first.job_id is not None:
        await stores.jobs.operate([first.job_id], Requeue(origin=USER, fresh_effect_key=False))


async def _cancel(stores: Stores, name: str) -> None:
    schedule = await stores.schedule_reader.get(name)
    if schedule is not None:
        await stores.jobs.operate(schedule.open_jobs, Cancel(origin=USER))


REQUEUE, CANCEL = Act(_requeue), Act(_cancel)
BACKFILL = Act(
    lambda one, _: one.backfills.advance(2), lambda one, _: one.backfills._advance(2, lambda _: None)
)


async def due(stores: Stores, clock: Clock, name: str) -> None:
    """One slot is due, and there is no job."""
    await stores.schedules.create(name, definition(), USER)
    clock.advance(5 * MINUTE)


async def busy(stores: Stores, clock: Clock, name: str) -> None:
    """One job runs, and the next slot is due."""
    await stores.schedules.create(name, definition(), USER)
    clock.advance(5 * MINUTE)
    await stores.firings.fire(100)
    clock.advance(5 * MINUTE)


async def waiting(stores: Stores, clock: Clock, name: str) -> None:
    """One firing waits for a job, which has just ended."""
    template = definition(overlap=Overlap.QUEUE_ONE, queue=name)
    await stores.schedules.create(name, template, USER)
    for _ in range(2):
        clock.advance(5 * MINUTE)
        await stores.firings.fire(100)
    await stores.queues.register([name])
    request = ClaimRequest(queue=name, types=frozenset({"work"}), limit=1, claim_id=CLAIM, origin=WORKER)
    [job] = (await stores.jobs.claim(request)).jobs
    await stores.jobs.report([Succeed(origin=WORKER, token=job.token)])


async def backfilling(stores: Stores, clock: Clock, name: str) -> None:
    """A slot is due, and a range of the past is wanted."""
    await due(stores, clock, name)
    wanted = Wanted(from_at=clock() - 20 * MINUTE, to_at=clock() - 10 * MINUTE, overlap=Overlap.SKIP)
    await stores.backfills.request(name, wanted, asked("b-1"))


async def nothing(stores: Stores, clock: Clock, name: str) -> None:
    """There is no schedule."""


RACES = {
    "edit, fire": (due, EDIT, FIRE),
    "fire, edit": (due, FIRE, EDIT),
    "pause, fire": (due, PAUSE, FIRE),
    "fire, pause": (due, FIRE, PAUSE),
    "delete, fire": (due, DELETE, FIRE),
    "fire, delete": (due, FIRE, DELETE),
    "fire, fire": (due, FIRE, FIRE),
    "trigger, fire": (due, trigger(Overlap.SKIP), FIRE),
    "fire, trigger": (due, FIRE, trigger(Overlap.SKIP)),
    "trigger that cancels, fire": (busy, trigger(Overlap.CANCEL_RUNNING), FIRE),
    "fire, trigger that cancels": (busy, FIRE, trigger(Overlap.CANCEL_RUNNING)),
    "trigger, the same trigger": (due, trigger(Overlap.ALLOW), trigger(Overlap.ALLOW)),
    "trigger, another trigger": (due, trigger(Overlap.QUEUE_ONE), trigger(Overlap.SKIP, "r-2")),
    "trigger that cancels, cancel": (busy, trigger(Overlap.CANCEL_RUNNING), CANCEL),
    "release, delete": (waiting, RELEASE, DELETE),
    "delete, release": (waiting, DELETE, RELEASE),
    "release, pause": (waiting, RELEASE, PAUSE),
    "release, trigger": (waiting, RELEASE, trigger(Overlap.ALLOW)),
    "trigger, release": (waiting, trigger(Overlap.ALLOW), RELEASE),
    "release, requeue": (waiting, RELEASE, REQUEUE),
    "release, release": (waiting, RELEASE, RELEASE),
    "edit, edit": (due, EDIT_OTHERWISE, EDIT),
    "create, create": (nothing, CREATE, CREATE),
    "delete, create": (due, DELETE, CREATE),
    "backfill, fire": (backfilling, BACKFILL, FIRE),
    "fire, backfill": (backfilling, FIRE, BACKFILL),
    "backfill, delete": (backfilling, BACKFILL, DELETE),
    "delete, backfill": (backfilling, DELETE, BACKFILL),
}


@pytest.mark.parametrize("race", RACES)
async def test_two_changes_at_once_are_one_after_the_other(
    clocked: str, clock: Clock, note: Note, race: str
) -> None:
    """B065: wherever the first is halted, the second waits, passes by or comes first; memory knows the outcome."""
    clock.now = MIDNIGHT
    scene, first, second = RACES[race]
    meeting = Race(clocked, clock, scene, first, second)
    places = await meeting.run()
    assert places >= 1
    note(f"interleavings: {race}: {places} places, {dict(meeting.outcomes)}")
