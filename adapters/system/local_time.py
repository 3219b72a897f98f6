"""The machine's clocks."""

import asyncio
import time
from datetime import UTC, datetime

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)


class SystemTime:
    """Time of this machine; the monotonic clock counts suspend where the system has such a clock."""

    def monotonic(self) -> float:
        """Return seconds of a clock that only goes forward."""
        return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)

    def wall(self) -> datetime:
        """Return the wall clock in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Suspend the caller."""
        await asyncio.sleep(seconds)
