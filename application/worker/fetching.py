"""Fetching: claims for free slots, sleeping until something is due, and never giving up."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...domain.errors import TooSlow, Unavailable, UnknownOutcome
from ...domain.limits import LEASE_MIN
from ..ports.job_store import Claimed, ClaimedJob
from ..ports.local_time import LocalTime
from ..ports.queue_store import QueueStore
from ..ports.wakeups import Wakeups
from .appetite import LINGER, Appetite
from .backoff import Backoff
from .bell import Bell
from .claiming import Asked, Claiming
from .execution import Execution
from .portion import Portion
from .rooms import Rooms
from .settings import WorkerSettings

_log = logging.getLogger(__name__)

SOON = LEASE_MIN.total_seconds() / 2
"""Seconds within which a claim's answer is in time for the shortest lease."""
BUSY_ROUNDS = 3
"""Rounds in a row without a dry queue before the idle flag is taken down: taking it down costs a commit."""


class Fetching:
    """One loop over all queues."""

    def __init__(
        self,
        settings: WorkerSettings,
        queues: QueueStore,
        wakeups: Wakeups,
        time: LocalTime,
        backoff: Backoff,
        bell: Bell,
        rooms: Rooms,
    ) -> None:
        """Take the collaborators; ``run`` brings the rest."""
        self._settings, self._queues, self._wakeups, self._time = settings, queues, wakeups, time
        self._backoff, self._bell = backoff, bell
        self._poll = settings.fallback_poll.total_seconds()
        self._rooms = rooms
        self._appetite = Appetite(settings.queues, rooms.most, rooms.now, time, self._poll)
        self._portion = Portion(settings.batch)
        self._ahead: Asked | None = None
        """The next claim, sent before what the last one brought was started."""
        self._listener: asyncio.Task[None] | None = None
        self._idle = False
        self._busy_rounds = 0
        self._trickling = 0
        """Rounds in a row that found something, and took all there was: jobs come in a stream of small claims."""
        self.stopping = False

    @property
    def in_contact(self) -> bool:
        """Whether the last claim was answered."""
        return self._backoff.tries == 0

    def stop(self) -> None:
        """Claim no more; a claim on its way is waited for."""
        self.stopping = True
        self._bell.ring()

    def revisit(self, queue: str) -> None:
        """Claim from a queue once more: a job has gone back to it, due now or at a time to be learnt."""
        self._appetite.wake((queue,))
        self._bell.ring()

    async def run(self, claiming: Claiming, execution: Execution) -> None:
        """Fetch until stopped; cancelled, it leaves at once."""
        try:
            while not self.stopping:
                try:
                    await self._turn(claiming, execution)
                except (Unavailable, UnknownOutcome) as error:
                    await self._finish(execution)
                    await self._rest(error)
            await self._finish(execution)
        finally:
            if self._ahead is not None:
                self._ahead.cancel()
            if self._listener is not None:
                self._listener.cancel()
        await self._close()

    async def insist(self, error: Exception) -> None:
        """Wait before the database is asked again for what must be known, stopping or not."""
        await self._time.sleep(self._delay(error))

    async def _finish(self, execution: Execution) -> None:
        """Wait for the claim that was sent ahead: its leases must not run while nobody looks."""
        if self._ahead is not None:
            with suppress(Unavailable, UnknownOutcome):
                claimed, sent = await self._ahead
                execution.start_all(claimed.jobs, self._ahead.queue, sent)
            self._ahead = None

    async def _rest(self, error: Exception) -> None:
        """Wait before the database is tried again; a stop ends the wait."""
        end = self._time.monotonic() + self._delay(error)
        while not self.stopping and (left := end - self._time.monotonic()) > 0:
            await self._bell.wait(left)

    def _delay(self, error: Exception) -> float:
        if self._backoff.tries == 0:
            _log.warning("database out of reach, trying again: %s", error)
        return self._backoff.failed()

    async def _turn(self, claiming: Claiming, execution: Execution) -> None:
        if self._listener is None:
            await self._open()
        for straggler in await claiming.stragglers():
            execution.start(*straggler)
        execution.hand_back_stale()
        if self._appetite.meagre or self._trickling >= BUSY_ROUNDS:
            await self._time.sleep(LINGER)
        found = await self._round(claiming, execution)
        self._backoff.answered()
        if await self._tell(found):
            self._appetite.wake_all()
        elif not found and not self.stopping:
            await self._bell.wait(min(self._appetite.patience(), execution.stale_in))
            self._appetite.refresh()

    async def _tell(self, found: bool) -> bool:
        """Keep the idle flag true; True when this worker has just become idle, and so has to look once more."""
        if self._appetite.starving:
            self._busy_rounds = 0
            if not self._idle:
                await self._set_idle(True)
                return True
        elif self._idle and found:
            self._busy_rounds += 1
            if self._busy_rounds >= BUSY_ROUNDS or self._appetite.sated:
                await self._set_idle(False)
        return False

    async def _round(self, claiming: Claiming, execution: Execution) -> bool:
        """Claim once from each queue worth it and start what came."""
        found = full = False
        for asked in self._claims(claiming):
            claimed = await self._served(asked, claiming, execution)
            number = len(claimed.jobs)
            found, full = found or number > 0, full or number == asked.limit
            if 0 < number < asked.limit:
                await self._time.sleep(0)  # the handlers first: there is hardly more to claim
            if self.stopping:
                break
        self._trickling = self._trickling + 1 if found and not full else 0
        return found

    def _claims(self, claiming: Claiming) -> Iterator[Asked]:
        """Yield the claim that was sent ahead, or else one of each queue worth it."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            yield ahead
            return
        for queue, room in self._appetite.servings():
            yield claiming.ask(queue, min(room, self._portion.now))

    async def _served(self, asked: Asked, claiming: Claiming, execution: Execution) -> Claimed:
        """Wait for one claim's answer and start what it brought."""
        try:
            claimed, sent = await asked
        except TooSlow:
            self._portion.too_much(asked.limit)
            raise
        number = len(claimed.jobs)
        self._weigh(claimed.jobs, self._time.monotonic() - sent)
        if number == asked.limit:
            await self._look_ahead(asked.queue, number, claiming)
        execution.start_all(claimed.jobs, asked.queue, sent)
        if not claimed.open:
            execution.hand_back(asked.queue)
        if self._left_nothing(number, asked.limit):
            self._appetite.emptied(asked.queue, sent, claimed.next_due_in)
        return claimed

    async def _look_ahead(self, queue: str, arrived: int, claiming: Claiming) -> None:
        """Send another claim when there is room for as many once more: the database works while handlers start.

        Not with several queues: its jobs would wait, with nobody to renew their leases, for the claims of the others.
        """
        limit = min(self._rooms.now(queue, arrived), self._portion.now)
        if limit >= arrived and len(self._settings.queues) == 1 and not self.stopping:
            self._ahead = claiming.ask_at_once(queue, limit)
            await asyncio.sleep(0)  # it is sent then

    def _left_nothing(self, found: int, limit: int) -> bool:
        """Whether the next claim can wait for a wake-up.

        A claim that found fewer jobs than it asked for took all there were. When the idle flag was up already, what is
        submitted after its snapshot comes with a wake-up. But submitters who are many let wake-ups wait for each other:
        where there was more than one job, the next claim may well find another before it is told to.
        """
        return found == 0 or (self._idle and found == 1 < limit)

    def _weigh(self, jobs: Sequence[ClaimedJob], waited: float) -> None:
        """Claim fewer at a time when half of a lease is over before its job arrives."""
        if waited > SOON and any(waited > job.lease.total_seconds() / 2 for job in jobs):
            self._portion.too_much(len(jobs))
        else:
            self._portion.done(len(jobs))

    async def _open(self) -> None:
        await self._queues.register(self._settings.queues)
        await self._wakeups.open(self._settings.worker, tuple(self._settings.queues))
        self._listener = asyncio.ensure_future(self._listen())

    async def _set_idle(self, idle: bool) -> None:
        await self._wakeups.set_idle(idle)
        self._idle, self._busy_rounds = idle, 0

    async def _listen(self) -> None:
        while True:
            if woken := await self._wakeups.wait(self._poll):
                self._appetite.wake(woken)
                self._bell.ring()

    async def _close(self) -> None:
        if self._listener is None:
            return
        await asyncio.gather(self._listener, return_exceptions=True)
        try:
            await self._wakeups.close()
        except (Unavailable, UnknownOutcome) as error:
            _log.info("the worker's registration stays until it is pruned: %s", error)
