"""What loops that ask the database again and again have in common: a bell, a backoff, and a way to stop."""

from collections.abc import Callable

from .ports.local_time import LocalTime
from .worker.backoff import Backoff
from .worker.bell import Bell


class Rounds:
    """Sleeps between rounds; a stop ends the sleep, and a round on its way is waited for."""

    def __init__(self, time: LocalTime, draw: Callable[[], float]) -> None:
        """Take the ports."""
        self._time = time
        self._backoff = Backoff(draw)
        self._bell = Bell(time)
        self._stopping = False

    @property
    def in_contact(self) -> bool:
        """Whether the database answered the last time it was asked."""
        return self._backoff.tries == 0

    def stop(self) -> None:
        """End after the round on its way."""
        self._stopping = True
        self._bell.ring()

    async def _wait(self, seconds: float) -> None:
        if not self._stopping:
            await self._bell.wait(seconds)
