"""Wake-ups in memory: who waits is told, who works is left alone."""

import asyncio
from datetime import timedelta

import pytest

from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.submitter import MemorySubmitter
from fencepost.adapters.memory.wakeups import MemoryWakeups
from fencepost.domain import commands as c
from support.asking import submission
from support.crowd import OPERATOR
from support.stores import Clock

NONE: frozenset[str] = frozenset()


@pytest.fixture
def database() -> MemoryDatabase:
    """An empty database."""
    return MemoryDatabase(Clock())


@pytest.fixture
async def ear(database: MemoryDatabase) -> MemoryWakeups:
    """An idle worker's, for the queues a and b."""
    wakeups = MemoryWakeups(database)
    await wakeups.open("worker:1", ["a", "b"])
    await wakeups.set_idle(True)
    return wakeups


async def test_a_submit_wakes_an_idle_worker(database: MemoryDatabase, ear: MemoryWakeups) -> None:
    """The waiting call returns at once, with the queue's name."""
    waiting = asyncio.create_task(ear.wait(60))
    await MemorySubmitter(database).submit([submission(queue="b")])
    assert await waiting == {"b"}
    assert await ear.wait(0) == NONE


async def test_a_wake_up_before_the_wait_is_not_lost(database: MemoryDatabase, ear: MemoryWakeups) -> None:
    """What happened since the last call is told by the next one, queues together."""
    for queue in ("a", "b", "a", "c"):
        await MemorySubmitter(database).submit([submission(queue=queue)])
    assert await ear.wait(0) == {"a", "b"}


async def test_a_busy_worker_is_left_alone(database: MemoryDatabase, ear: MemoryWakeups) -> None:
    """A worker that is not idle will claim again anyway."""
    await ear.set_idle(False)
    await MemorySubmitter(database).submit([submission(queue="a")])
    assert await ear.wait(0) == NONE


async def test_waiting_ends_without_a_wake_up(ear: MemoryWakeups) -> None:
    """The fallback poll goes on however quiet it is."""
    assert await ear.wait(0.001) == NONE


async def test_a_closed_ear_hears_nothing(database: MemoryDatabase, ear: MemoryWakeups) -> None:
    """After its end a worker is forgotten; closing twice is fine."""
    await ear.close()
    await ear.close()
    await MemorySubmitter(database).submit([submission(queue="a")])
    assert await ear.wait(0) == NONE
    assert database.listeners == {}


async def test_whatever_makes_a_job_wait_wakes(database: MemoryDatabase, ear: MemoryWakeups) -> None:
    """Requeued and edited jobs and resumed queues are work, too."""
    delayed = submission(queue="a", delay=timedelta(hours=1))
    (answer,) = await MemorySubmitter(database).submit([delayed])
    assert await ear.wait(0) == {"a"}
    jobs = MemoryJobStore(database)
    await jobs.operate([answer.job_id], c.Edit(origin=OPERATOR, queue="b"))
    assert await ear.wait(0) == {"b"}
    await jobs.operate([answer.job_id], c.Cancel(origin=OPERATOR))
    assert await ear.wait(0) == NONE
    await jobs.operate([answer.job_id], c.Requeue(origin=OPERATOR))
    assert await ear.wait(0) == {"b"}
    queues = MemoryQueueStore(database)
    await queues.pause("a", OPERATOR)
    await queues.resume("a", OPERATOR)
    assert await ear.wait(0) == {"a"}
