"""Heartbeats: all held leases in one call, from a loop of their own."""

import logging
import math
from collections.abc import Callable, Sequence
from datetime import timedelta

from ...domain.errors import TooSlow, Unavailable, UnknownOutcome
from ...domain.vocabulary import Verdict
from ..ports.background import Background
from ..ports.job_store import JobStore, LeaseAnswer
from ..ports.local_time import LocalTime
from .attempt import Attempt, Cause
from .backoff import Backoff
from .bell import Bell
from .portion import Portion
from .settings import HEARTBEATS_PER_LEASE

_log = logging.getLogger(__name__)
SOONEST = 0.25
"""Seconds before a heartbeat without an answer is repeated, at least."""
MOST = 1_000_000
"""Leases in one statement, unless that takes too long."""


class Heartbeats:
    """Renews what is in ``held``, on the background loop; ``halt`` may be called from there."""

    def __init__(
        self,
        store: JobStore,
        held: set[Attempt],
        time: LocalTime,
        background: Background,
        draw: Callable[[], float],
        halt: Callable[[Attempt, Cause], None],
        period: timedelta | None,
    ) -> None:
        """Take the collaborators; ``period`` None means a third of the shortest lease held."""
        self._store, self._held, self._time, self._background = store, held, time, background
        self._halt = halt
        self._longest = math.inf if period is None else period.total_seconds()
        self._backoff, self._portion = Backoff(draw), Portion(MOST)
        self.bell = Bell(time)
        self._pace = math.inf
        self._sent = 0.0

    @property
    def in_contact(self) -> bool:
        """Whether the last heartbeat was answered."""
        return self._backoff.tries == 0

    def expect(self, lease: float) -> None:
        """Hear of a new lease: one shorter than those known changes the pace."""
        if lease < self._pace:
            self._pace = lease
            self.bell.ring_across()

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            shortest = self._pace = self._shortest()
            if self._shortest() < shortest:  # came while the old pace was still in sight, so nobody rang
                continue
            if shortest == math.inf:
                await self.bell.wait()
                self._sent = self._time.monotonic()
                continue
            left = self._sent + self._period(shortest) - self._time.monotonic()
            if left > 0:
                await self.bell.wait(left)
            else:
                self._sent = self._time.monotonic()
                await self.beat(tuple(self._held))

    async def renew(self, attempt: Attempt) -> None:
        """Renew one lease now, from the worker's loop; nothing happens while the database is away."""

        async def beat() -> None:
            await self.beat((attempt,))

        await self._background.call(beat)

    async def beat(self, attempts: Sequence[Attempt]) -> None:
        """Send one heartbeat for these, or several when that took too long, and act on the answers."""
        rest = attempts
        while rest:
            part = rest[: self._portion.now]
            try:
                await self._send(part)
            except (Unavailable, UnknownOutcome) as error:
                if isinstance(error, TooSlow) and self._portion.too_much(len(part)):
                    continue
                if self._backoff.tries == 0:
                    _log.warning("heartbeat failed, leases run down: %s", error)
                self._backoff.failed()
                return
            rest = rest[len(part) :]

    async def _send(self, attempts: Sequence[Attempt]) -> None:
        sent = self._time.monotonic()
        answers = await self._store.heartbeat([attempt.job.token for attempt in attempts])
        self._backoff.answered()
        self._portion.done(len(attempts))
        for attempt, answer in zip(attempts, answers, strict=True):
            self._hear(attempt, answer, sent)

    def _shortest(self) -> float:
        return min((attempt.lease for attempt in tuple(self._held)), default=math.inf)

    def _period(self, shortest: float) -> float:
        period = min(self._longest, shortest / HEARTBEATS_PER_LEASE)
        if self._backoff.tries:
            return min(max(period / 4, SOONEST), period)
        return period

    def _hear(self, attempt: Attempt, answer: LeaseAnswer, sent: float) -> None:
        """Act on one answer; that of an attempt with a report under way is left to the report's verdict."""
        if answer.verdict is Verdict.ACCEPTED:
            attempt.lease_end = max(attempt.lease_end, sent + attempt.lease)
            if answer.cancel_requested:
                self._halt(attempt, Cause.CANCEL)
        elif answer.verdict is not Verdict.BUSY:
            self._halt(attempt, Cause.LOST)
