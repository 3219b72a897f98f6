"""Several worker processes under one that starts, watches and stops them."""

import asyncio
import logging
from collections.abc import Sequence

from .crew import LEAVE_WITHIN, MARGIN, Crew, workers
from .startup import Start, ready
from .stopping import stop_requests
from .worker_container import WorkerContainer

_log = logging.getLogger(__name__)


def run_workers(container: WorkerContainer, command: Sequence[str]) -> int:
    """Run the command in as many processes as set, until told to stop: exit code 0, or 1 when told twice.

    What would fail in each of them fails here, once, before any is started: raises MigrationsPending, InvalidInput for
    settings no worker can have. Raises ChildFailed when one keeps ending.
    """
    container.worker_settings()
    return asyncio.run(_serve(container, command))


async def _serve(container: WorkerContainer, command: Sequence[str]) -> int:
    settings = container.settings()
    with stop_requests(LEAVE_WITHIN) as requests:
        if await ready(container, requests.stopping) is Start.STOPPED:
            return 0
        _log.info("supervisor started", extra={"processes": settings.processes})
        grace = settings.drain_grace.total_seconds()
        await Crew().serve(workers(settings.processes, command), requests, grace + MARGIN)
        code = 1 if requests.aborting.is_set() else 0
        _log.info("supervisor stopped", extra={"exit_code": code})
        return code
