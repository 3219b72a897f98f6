"""A scheduler process: fires schedules and ends expired leases."""

import asyncio
import logging

from ..application.firing import FiringLoop
from ..application.reaping import Reaper
from .container import Container, closed
from .startup import Start, ready
from .stopping import StopRequests, stop_requests

_log = logging.getLogger(__name__)


def run_scheduler(container: Container) -> int:
    """Run until told to stop: exit code 0, or 1 when told twice; raises MigrationsPending."""
    return asyncio.run(_serve(container))


async def _serve(container: Container) -> int:
    with stop_requests() as requests:
        start = await ready(container, requests.stopping)
        if start is Start.STOPPED:
            return 0
        reaper, firing = container.reaper(), container.firing_loop()
        _log.info("scheduler started", extra={"reap_every": container.settings().reap_every.total_seconds()})
        obedience = asyncio.ensure_future(_obey(requests, reaper, firing))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(reaper.run(after_outage=start is Start.AFTER_OUTAGE))
                group.create_task(firing.run())
        finally:
            obedience.cancel()
            await closed(container)
        _log.info("scheduler stopped")
        return 1 if requests.aborting.is_set() else 0


async def _obey(requests: StopRequests, reaper: Reaper, firing: FiringLoop) -> None:
    await requests.stopping.wait()
    reaper.stop()
    firing.stop()
