"""Time that the test moves: the worker's monotonic clock and its sleeps."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

from fencepost.domain.commands import HandlerTimes

WALL = datetime(2030, 1, 1, tzinfo=UTC)
STEPS = 60
"""Turns of the event loop after which everything that can go on without time passing has done so."""


async def settle() -> None:
    """Let everything run that needs no time to pass."""
    for _ in range(STEPS):
        await asyncio.sleep(0)


class MovedTime:
    """Implements the port ``LocalTime``; nothing passes by itself."""

    def __init__(self) -> None:
        """Start at zero."""
        self._now = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        """Return the seconds moved so far."""
        return self._now

    def wall(self) -> datetime:
        """Return the moment that corresponds."""
        return WALL + timedelta(seconds=self._now)

    def epoch_us(self) -> int:
        """Return the same in microseconds since 1970."""
        return HandlerTimes.of(self.wall(), timedelta(0)).started_us

    def pass_by(self, seconds: float) -> None:
        """Move on while nobody else can act, as a handler does that blocks the loop."""
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait until the test has moved on by so much."""
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Move on, waking every sleeper at its own moment and letting it act before the next."""
        end = self._now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            moment, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, moment)
            if not woken.done():
                woken.set_result(None)
                await settle()
        self._now = end
        await settle()
