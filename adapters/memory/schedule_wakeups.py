"""Hints between objects of one process."""

from collections.abc import Callable

from .database import MemoryDatabase


class MemoryScheduleWakeups:
    """Implements the port ``ScheduleWakeups``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Listen to this database."""
        self._database = database
        self._ring: Callable[[], None] | None = None

    def open(self, ring: Callable[[], None]) -> None:
        """Start listening."""
        self._ring = ring
        self._database.bells.append(ring)

    async def close(self) -> None:
        """Stop listening."""
        if self._ring is not None:
            self._database.bells.remove(self._ring)
            self._ring = None
