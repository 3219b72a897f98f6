"""Wake-ups between objects of one process."""

import asyncio
from collections.abc import Sequence

from .database import Listener, MemoryDatabase


class MemoryWakeups:
    """Implements the port ``Wakeups``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Listen to this database."""
        self._database = database
        self._worker: str | None = None
        self._listener = Listener(frozenset())

    async def open(self, worker: str, queues: Sequence[str]) -> None:
        """Start listening."""
        self._worker = worker
        self._listener = self._database.listeners[worker] = Listener(frozenset(queues))

    async def set_idle(self, idle: bool) -> None:
        """Say whether this worker waits."""
        self._listener.idle = idle

    async def wait(self, timeout: float) -> frozenset[str]:
        """Return the queues woken since the last call; empty after ``timeout`` seconds without one."""
        try:
            async with asyncio.timeout(timeout):
                await self._listener.signal.wait()
        except TimeoutError:
            return frozenset()
        woken = frozenset(self._listener.woken)
        self._listener.woken.clear()
        self._listener.signal.clear()
        return woken

    async def close(self) -> None:
        """Stop listening."""
        if self._worker is not None:
            self._database.listeners.pop(self._worker, None)
