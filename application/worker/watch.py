"""The watch: one scan over all running handlers instead of a timer for each."""

import math
from collections.abc import Callable

from ..ports.local_time import LocalTime
from .attempt import Attempt, Cause
from .bell import Bell

AGAIN = 0.05
"""Seconds until an overdue attempt that could not be told to stop is looked at again."""


class Watch:
    """Tells handlers to stop at their timeout or local lease end; runs on the background loop.

    ``abandon`` is called for a handler that goes on after its timeout although it was told to stop.
    """

    def __init__(
        self,
        running: set[Attempt],
        time: LocalTime,
        halt: Callable[[Attempt, Cause], None],
        abandon: Callable[[Attempt], None],
        stop_grace: float,
    ) -> None:
        """Take the collaborators."""
        self._running, self._time, self._halt, self._abandon = running, time, halt, abandon
        self._stop_grace = stop_grace
        self.bell = Bell(time)
        self._next = math.inf

    def expect(self, moment: float) -> None:
        """Hear of a new deadline or lease end, from any thread."""
        if moment < self._next:
            self._next = moment
            self.bell.ring_across()

    async def run(self) -> None:
        """Scan whenever something may be due, until cancelled."""
        while True:
            now = self._time.monotonic()
            self._next = math.inf
            self._next = min(self._next, self._scan(now))
            await self.bell.wait(None if self._next == math.inf else self._next - now)

    def _scan(self, now: float) -> float:
        """Stop what is due and return when to look again."""
        soonest = math.inf
        for attempt in tuple(self._running):
            due = self._due(attempt)
            if due <= now:
                self._act(attempt)
                due = max(now + AGAIN, self._due(attempt))
            soonest = min(soonest, due)
        return soonest

    def _due(self, attempt: Attempt) -> float:
        if attempt.ended or attempt.completed:
            return math.inf
        if attempt.cause is None:
            return min(attempt.deadline, attempt.lease_end)
        if attempt.cause is Cause.TIMEOUT and attempt.report is None:
            return attempt.halted_at + self._stop_grace
        return math.inf

    def _act(self, attempt: Attempt) -> None:
        if attempt.cause is Cause.TIMEOUT:
            self._abandon(attempt)
        elif attempt.deadline <= attempt.lease_end:
            self._halt(attempt, Cause.TIMEOUT)
        else:
            self._halt(attempt, Cause.LAPSED)
