"""The real firing loop over the adapters in memory, in a time that the test moves."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from attrs import define

from fencepost.adapters.memory.backfill_store import MemoryBackfillStore
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.firing_store import MemoryFiringStore
from fencepost.adapters.memory.schedule_store import MemoryScheduleStore
from fencepost.adapters.memory.schedule_wakeups import MemoryScheduleWakeups
from fencepost.application.firing import FiringLoop
from fencepost.domain.backfill import Wanted
from fencepost.domain.schedule import Overlap
from support.local_time import MovedTime, settle
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, asked, definition


@define
class Scene:
    """A scheduler at work."""

    time: MovedTime
    database: MemoryDatabase
    schedules: MemoryScheduleStore
    backfills: MemoryBackfillStore

    def served(self) -> list[tuple[float, float]]:
        """When each job was inserted and which fire time it serves, in seconds after midnight."""
        return [
            (
                (job.submitted_at - MIDNIGHT).total_seconds(),
                (job.scheduled_for - MIDNIGHT).total_seconds(),
            )
            for job in self.database.jobs.values()
            if job.scheduled_for is not None
        ]


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """It is midnight, and there is no schedule."""
    time = MovedTime()
    database = MemoryDatabase(time.wall)
    backfills = MemoryBackfillStore(database)
    wakeups = MemoryScheduleWakeups(database)
    loop = FiringLoop(MemoryFiringStore(database), backfills, wakeups, time, lambda: 0.5)
    running = asyncio.ensure_future(loop.run())
    await settle()
    yield Scene(time, database, MemoryScheduleStore(database), backfills)
    loop.stop()
    await running
    assert database.bells == []


async def test_jobs_are_inserted_at_their_fire_times(scene: Scene) -> None:
    """Not a moment later: the loop knows until when it may sleep."""
    await scene.schedules.create("often", definition("every 90s", overlap=Overlap.ALLOW), USER)
    await scene.time.advance(271)
    assert scene.served() == [(90, 90), (180, 180), (270, 270)]


async def test_a_change_wakes_a_sleeping_scheduler(scene: Scene) -> None:
    """Asleep until the next poll it learns at once of a fire time that comes sooner."""
    await scene.time.advance(0.2)
    await scene.schedules.create(
        "soon", definition("every 1s", starts_at=MIDNIGHT, overlap=Overlap.ALLOW), USER
    )
    await scene.time.advance(1)
    assert scene.served() == [(1, 1)]


async def test_a_backfill_is_carried_out_in_between(scene: Scene) -> None:
    """Asked for while the scheduler sleeps, it begins at once."""
    await scene.schedules.create("often", definition("* * * * *"), USER)
    wanted = Wanted(from_at=MIDNIGHT - 200 * MINUTE, to_at=MIDNIGHT - MINUTE)
    await scene.backfills.request("often", wanted, asked("b-1"))
    await scene.time.advance(0)
    assert len(scene.served()) == 200


async def test_a_job_that_has_not_begun_is_replaced_in_the_same_round(scene: Scene) -> None:
    """It is cancelled at once, and nobody has to wait for the next poll."""
    await scene.schedules.create("one", definition("* * * * *", overlap=Overlap.CANCEL_RUNNING), USER)
    await scene.time.advance(timedelta(minutes=2).total_seconds())
    assert scene.served() == [(60, 60), (120, 120)]
