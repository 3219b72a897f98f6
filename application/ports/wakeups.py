"""Wake-ups: hints that work may be waiting. Losing one costs a fallback poll, never a job."""

from collections.abc import Sequence
from typing import Protocol


class Wakeups(Protocol):
    """One worker's ear. Opened before its first claim, closed at its end."""

    async def open(self, worker: str, queues: Sequence[str]) -> None:
        """Start listening for these queues."""
        ...

    async def set_idle(self, idle: bool) -> None:
        """Commit whether this worker waits: submitters notify only then. Idle first, then claim once more."""
        ...

    async def wait(self, timeout: float) -> frozenset[str]:
        """Return the queues woken since the last call; empty after ``timeout`` seconds without one.

        Never raises when the connection is gone: it waits the time out and reconnects.
        """
        ...

    async def close(self) -> None:
        """Stop listening and forget the worker."""
        ...
