"""The reaper: expires lapsed leases, in bounded batches, and holds back after an outage.

While a transaction somewhere in the cluster holds an old snapshot, the search for lapsed leases passes every job that
ran since. It is kept to a twentieth of the time, then: a lapsed lease is found at most 20 searches later. A search that
takes longer than a statement may is no outage: it is tried for fewer jobs, no more than a lease later.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from ..domain.errors import TooSlow, Unavailable, UnknownOutcome
from ..domain.limits import LEASE_DEFAULT
from .ports.job_store import JobStore
from .ports.local_time import LocalTime
from .rounds import Rounds
from .worker.portion import Portion

_log = logging.getLogger(__name__)

EVERY = timedelta(seconds=2)
BATCH = 100
REST = 19
"""Times as long as a search took, there is none: at most a twentieth of the time goes into them."""


class Reaper(Rounds):
    """Any number may run at once: each lapsed lease is expired by exactly one."""

    def __init__(
        self,
        store: JobStore,
        contact: Callable[[], Awaitable[object]],
        time: LocalTime,
        draw: Callable[[], float],
        *,
        every: timedelta = EVERY,
        longest_lease: timedelta = LEASE_DEFAULT,
    ) -> None:
        """Take the ports; ``contact`` asks the database anything harmless and raises Unavailable while it is away."""
        super().__init__(time, draw)
        self._store, self._contact, self._draw = store, contact, draw
        self._every, self._hold = every.total_seconds(), longest_lease.total_seconds()
        self._portion = Portion(BATCH)
        self._searched = 0.0

    async def run(self, *, after_outage: bool = False) -> None:
        """Reap until stopped; ``after_outage`` says that the database was away until a moment ago."""
        if after_outage:
            await self._hold_back()
        while not self._stopping:
            try:
                await self.reap()
                await self._wait(self._rest)
            except TooSlow as error:
                _log.warning("looking for lapsed leases takes too long, trying on: %s", error)
                await self._wait(min(self._rest, self._hold) if self._portion.now > 1 else self._rest)
            except (Unavailable, UnknownOutcome) as error:
                await self._outage(error)

    @property
    def _rest(self) -> float:
        return max(self._every, REST * self._searched)

    async def reap(self) -> int:
        """Expire everything that has lapsed by now and return how much."""
        total, more = 0, True
        while more and not self._stopping:
            limit = self._portion.now
            count = await self._search(limit)
            total, more = total + count, count == limit
            await asyncio.sleep(0)
        return total

    async def _search(self, limit: int) -> int:
        """Expire so many at most; what is too much is asked for in halves from then on."""
        began = self._time.monotonic()
        try:
            count = await self._store.reap(limit, [self._draw() for _ in range(limit)])
        except TooSlow:
            self._portion.too_much(limit)
            raise
        finally:
            self._searched = self._time.monotonic() - began
        self._portion.done(count)
        return count

    async def _outage(self, error: Exception) -> None:
        """Wait until the database is back, and then for one lease: its workers could not renew either."""
        _log.warning("database out of reach, nothing is reaped: %s", error)
        self._backoff.failed()
        while not self._stopping and not self.in_contact:
            try:
                await self._contact()
                self._backoff.answered()
            except (Unavailable, UnknownOutcome):
                await self._wait(self._backoff.failed())
        await self._hold_back()

    async def _hold_back(self) -> None:
        await self._wait(self._hold)
