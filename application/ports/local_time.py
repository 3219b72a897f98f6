"""Time as a worker needs it: monotonic, for local lease ends and sleeping; never for leases or due times."""

from datetime import datetime
from typing import Protocol


class LocalTime(Protocol):
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Return seconds of a clock that only goes forward and counts suspend."""
        ...

    def wall(self) -> datetime:
        """Return the wall clock in UTC; informative only."""
        ...

    def epoch_us(self) -> int:
        """Return the wall clock in microseconds since 1970; informative only."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Suspend the caller."""
        ...
