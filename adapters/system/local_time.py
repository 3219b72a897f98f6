"""The machine's clocks."""

import asyncio
import time
from datetime import UTC, datetime
from functools import partial

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)


class SystemTime:
    """Time of this machine; the monotonic clock counts suspend where the system has such a clock."""

    # Called several times for each job: no function of ours stands in between.
    monotonic = staticmethod(time.monotonic if _BOOTTIME is None else partial(time.clock_gettime, _BOOTTIME))
    """Return seconds of a clock that only goes forward."""

    def wall(self) -> datetime:
        """Return the wall clock in UTC."""
        return datetime.now(UTC)

    def epoch_us(self) -> int:
        """Return the wall clock in microseconds since 1970."""
        return time.time_ns() // 1_000

    async def sleep(self, seconds: float) -> None:
        """Suspend the caller."""
        await asyncio.sleep(seconds)
