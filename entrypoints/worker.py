"""A worker process: from its app to its exit code."""

import asyncio
import logging

from ..application.worker.runtime import Worker
from .declared import Sync
from .loops import calm_the_collector, loop_factory
from .startup import Start, ready
from .stopping import LEAVE_WITHIN, StopRequests, leave_within, stop_requests
from .worker_container import WorkerContainer, worker_closed

_log = logging.getLogger(__name__)


def run_worker(container: WorkerContainer, sync: Sync | None = None) -> int:
    """Run until told to stop: exit code 0, or 1 when told twice. Schedules are brought before the first claim.

    Raises MigrationsPending, InvalidInput for settings no worker can have, and what broke the worker.
    """
    container.worker_settings()
    calm_the_collector()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        code = runner.run(_serve(container, sync))
        leave_within(LEAVE_WITHIN, code)
    return code


async def _serve(container: WorkerContainer, sync: Sync | None) -> int:
    with stop_requests() as requests:
        if await ready(container, requests.stopping) is Start.STOPPED:
            return 0
        syncing = None if sync is None else await sync.at_start(container)
        settings, worker = container.worker_settings(), container.worker()
        _warn_of_idle_handlers(container)
        _log.info("worker started", extra={"worker": settings.worker, "queues": dict(settings.queues)})
        obedience = asyncio.ensure_future(_obey(requests, worker))
        try:
            await worker.run()
        finally:
            obedience.cancel()
            if syncing is not None:
                syncing.cancel()
            await worker_closed(container)
        code = 1 if requests.aborting.is_set() else 0
        _log.info("worker stopped", extra={"worker": settings.worker, "exit_code": code})
        return code


async def _obey(requests: StopRequests, worker: Worker) -> None:
    await requests.stopping.wait()
    _log.info("stopping: no new claims, handlers may finish within the drain grace")
    worker.stop()
    await requests.aborting.wait()
    _log.warning("aborting: leases run out by themselves")
    worker.abort()


def _warn_of_idle_handlers(container: WorkerContainer) -> None:
    served = container.worker_settings().queues
    for handler in container.handlers():
        if handler.queue not in served:
            _log.warning("queue %s of type %s is not served by this worker", handler.queue, handler.type)
