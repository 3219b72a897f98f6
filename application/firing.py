"""The firing loop: schedules become jobs at their fire times, by as many schedulers as there are.

Backfills are in no hurry: after each of their batches what is due by the clock is looked at again.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta

from ..domain.errors import Unavailable, UnknownOutcome
from .ports.backfill_store import BackfillRounds
from .ports.local_time import LocalTime
from .ports.schedule_store import Fired, FiringStore
from .ports.schedule_wakeups import ScheduleWakeups
from .rounds import Rounds

_log = logging.getLogger(__name__)

LIMIT = 100
"""Schedules in one transaction."""
BACKFILLED = 25
"""Jobs of a backfill in one transaction: what is due by the clock waits no longer than for these."""
POLL = timedelta(seconds=1)
"""The longest sleep: a hint may be lost, and firings that wait for jobs to end are looked at this often."""


RECOMPUTE = timedelta(minutes=1)
"""How often next fire times of older rules of time zones are looked for: schedulers of two versions may run at once."""


class FiringLoop(Rounds):
    """Any number may run at once: what one has locked, the others pass by."""

    def __init__(
        self,
        store: FiringStore,
        backfills: BackfillRounds,
        wakeups: ScheduleWakeups,
        time: LocalTime,
        draw: Callable[[], float],
        *,
        poll: timedelta = POLL,
    ) -> None:
        """Take the ports."""
        super().__init__(time, draw)
        self._store, self._backfills = store, backfills
        self._wakeups, self._poll = wakeups, poll.total_seconds()
        self._recompute_at = time.monotonic()

    async def run(self) -> None:
        """Fire until stopped."""
        self._wakeups.open(self._bell.ring)
        try:
            while not self._stopping:
                await self._wait(await self._patient_round())
        finally:
            await self._wakeups.close()

    async def _patient_round(self) -> float:
        try:
            patience = await self.round()
        except (Unavailable, UnknownOutcome) as error:
            if self.in_contact:
                _log.warning("database out of reach, nothing is fired: %s", error)
            return self._backoff.failed()
        except Exception:  # noqa: BLE001 - a scheduler that ends would take the reaper with it
            _log.exception("a round of firings failed, and is tried again")
            return self._backoff.failed()
        self._backoff.answered()
        return patience

    async def round(self) -> float:
        """Decide all that is due by now; return the seconds until there may be more."""
        sent = self._time.monotonic()
        fired = await self._emptied()
        if await self._recomputed() or await self._backfilled():
            return 0.0
        if fired.next_in is None:
            return self._poll
        return max(0.0, min(self._poll, fired.next_in.total_seconds() - (self._time.monotonic() - sent)))

    async def _recomputed(self) -> bool:
        """Now and then look for next fire times of older rules of time zones; tell whether there may be more."""
        now = self._time.monotonic()
        if now < self._recompute_at:
            return False
        if await self._store.recompute(LIMIT):
            return True
        self._recompute_at = now + RECOMPUTE.total_seconds()
        return False

    async def _backfilled(self) -> bool:
        """Go on with backfills; one that can't be carried out holds up nothing that the clock asks for."""
        try:
            return (await self._backfills.advance(BACKFILLED)).full
        except (Unavailable, UnknownOutcome):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it is this backfill's alone
            _log.exception("a backfill can't be carried out")
            return False

    async def _emptied(self) -> Fired:
        """Ask until less comes than was asked for; what waits for jobs to end waits for no one who catches up."""
        while True:
            fired = await self._store.fire(LIMIT)
            released = await self._store.release(LIMIT)
            if not (fired.full or released.full) or self._stopping:
                return fired
            await asyncio.sleep(0)
