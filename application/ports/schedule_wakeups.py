"""Hints to schedulers that sleep until a fire time."""

from collections.abc import Callable
from typing import Protocol


class ScheduleWakeups(Protocol):
    """Losing one costs a fallback poll, never a firing."""

    def open(self, ring: Callable[[], None]) -> None:
        """Start listening; ``ring`` is called on the running loop."""
        ...

    async def close(self) -> None:
        """Stop listening."""
        ...
