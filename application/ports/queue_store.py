"""Queues: pause and resume."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from ...domain.commands import Origin
from ...domain.vocabulary import Verdict


@frozen(kw_only=True)
class Queue:
    """A named lane; counts are of jobs now, ``due`` of pending ones whose time has come."""

    name: str
    paused_at: datetime | None = None
    pending: int = 0
    due: int = 0
    running: int = 0


class QueueStore(Protocol):
    """Pausing binds every claim whose statement starts after the pause committed."""

    async def register(self, names: Iterable[str]) -> None:
        """Make queues known; a worker does this for its queues before it claims."""
        ...

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Pause a queue, known or not: writes ``queue_pausing``, waits for earlier claims, writes ``queue_paused``.

        Wakes its idle workers, so that they hand back what they hold without a slot. Answers ``already_applied`` when
        it is paused.
        """
        ...

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Resume a queue and write ``queue_resumed``; ``already_applied`` when it is not paused."""
        ...

    async def list(self) -> Sequence[Queue]:
        """Return all queues by name, also those that only jobs know."""
        ...
