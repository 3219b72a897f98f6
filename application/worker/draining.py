"""Draining: a stop that loses nothing."""

import asyncio
import logging
from collections.abc import Callable

from ..ports.local_time import LocalTime
from .attempt import Cause
from .bell import Bell
from .endings import Endings
from .halting import Halting
from .ledger import Ledger
from .reporting import Reporting
from .settings import WorkerSettings

_log = logging.getLogger(__name__)


class Draining:
    """Lets handlers finish, then stops them, then hands back what goes on; heartbeats continue meanwhile."""

    def __init__(
        self,
        settings: WorkerSettings,
        time: LocalTime,
        ledger: Ledger,
        halting: Halting,
        endings: Endings,
        reporting: Reporting,
        quiet: Bell,
    ) -> None:
        """Take the collaborators; ``quiet`` rings whenever something ends."""
        self._settings, self._time, self._ledger, self._quiet = settings, time, ledger, quiet
        self._halting, self._endings, self._reporting = halting, endings, reporting

    async def run(self, fetching: asyncio.Task[None]) -> None:
        """Drain a worker whose fetching was told to stop."""
        grace, stop = self._settings.drain_grace.total_seconds(), self._settings.stop_grace.total_seconds()
        fetching.add_done_callback(lambda _: self._quiet.ring())
        await self._until(lambda: fetching.done() and not self._ledger.running, grace)
        fetching.cancel()
        for attempt in tuple(self._ledger.running):
            self._halting.halt(attempt, Cause.DRAIN)
        await self._until(lambda: not self._ledger.running, stop)
        for attempt in tuple(self._ledger.running):
            self._endings.release(attempt)
        await self._until(lambda: not self._reporting.unreported, max(grace, stop))
        if left := self._reporting.unreported:
            _log.error("%d reports have no verdict: their leases will run out", left)

    async def _until(self, over: Callable[[], bool], seconds: float) -> None:
        end = self._time.monotonic() + seconds
        while not over() and (left := end - self._time.monotonic()) > 0:
            await self._quiet.wait(left)
