"""A user's program in this process: its app, and a worker that runs the app's jobs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fencepost import Fencepost
from fencepost.application.worker.runtime import Worker
from fencepost.domain.job import Job
from fencepost.domain.vocabulary import State
from fencepost.entrypoints.settings import load
from fencepost.entrypoints.worker_container import assemble_worker, worker_closed


@asynccontextmanager
async def working(app: Fencepost, dsn: str, **settings: str) -> AsyncIterator[Worker]:
    """Run the app's jobs inside the block, and stop as a worker process does."""
    container = assemble_worker(load({"poll": "100ms", **settings}, environment={}), dsn, app.handlers)
    worker = container.worker()
    running = asyncio.ensure_future(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        try:
            await running
        finally:
            await worker_closed(container)


async def found(app: Fencepost, job_id: int) -> Job:
    """The job's row."""
    job = await app.get(job_id)
    assert job is not None
    return job


async def reached(app: Fencepost, job_id: int, state: State, within: float = 20.0) -> Job:
    """Wait until a job is in this state."""
    return await _seen(app, job_id, lambda job: job.state is state, within)


async def ended(app: Fencepost, job_id: int, within: float = 20.0) -> Job:
    """Wait until a job is in a terminal state."""
    return await _seen(app, job_id, lambda job: job.terminal, within)


async def names(app: Fencepost, job_id: int) -> list[str]:
    """The names of a job's events."""
    return [str(event.name) for event in await app.history(job_id)]


async def _seen(app: Fencepost, job_id: int, so: Callable[[Job], bool], within: float) -> Job:
    async with asyncio.timeout(within):
        while not so(job := await found(app, job_id)):  # noqa: ASYNC110  another process's rows ring no bell
            await asyncio.sleep(0.02)
    return job
