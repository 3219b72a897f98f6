"""Handlers that block: the heartbeat has a loop of its own. Real time, leases of a second."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio

from fencepost.adapters.system.background import LoopThread
from fencepost.adapters.system.local_time import SystemTime
from fencepost.application.context import Context
from fencepost.domain.vocabulary import State
from support.workshop import Workshop, until

LEASE = timedelta(seconds=1)


@pytest_asyncio.fixture
async def live() -> AsyncIterator[Workshop]:
    """A workshop in real time."""
    background = LoopThread()
    workshop = Workshop(SystemTime(), background)
    yield workshop
    await workshop.finish()
    workshop.threads.close()
    background.close()


async def run(live: Workshop) -> None:
    """Run one job and check that its lease was renewed while its handler blocked."""
    job = await live.submit(lease=LEASE)
    await live.start()
    await until(lambda: live.state(job) is State.SUCCEEDED)
    assert live.job(job).attempt == 1
    assert (live.last(job).heartbeats or 0) >= 3
    assert live.events(job) == ["enqueued", "claimed", "succeeded"]


async def test_a_handler_that_blocks_the_event_loop_keeps_its_lease(live: Workshop) -> None:
    """B082: time.sleep in a coroutine stops everything but the heartbeat."""

    async def block(ctx: Context) -> None:
        time.sleep(2.5)  # noqa: ASYNC251  the fault under test

    live.handle(block)
    await run(live)


async def test_a_pure_python_loop_in_a_thread_keeps_its_lease(live: Workshop) -> None:
    """B082: Computing without pause leaves the heartbeat's thread its share."""

    def compute(ctx: Context) -> None:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            sum(range(1000))

    live.handle(compute, executor="thread")
    await run(live)
