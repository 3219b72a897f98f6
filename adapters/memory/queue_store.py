"""Queues: pause and resume."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...application.ports.queue_store import Queue
from ...domain.commands import Origin
from ...domain.event import ControlEvent
from ...domain.vocabulary import ControlEventName, State, Verdict
from .database import MemoryDatabase


class MemoryQueueStore:
    """Implements the port ``QueueStore``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def register(self, names: Iterable[str]) -> None:
        """Make queues known."""
        with self._database.transaction():
            for name in names:
                self._database.queues.setdefault(name, None)

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Pause a queue and wake its workers; no earlier claim is under way, so both events are written at once."""
        with self._database.transaction() as now:
            if self._database.queues.get(name) is not None:
                return Verdict.ALREADY_APPLIED
            self._database.queues[name] = now
            self._note(ControlEventName.QUEUE_PAUSING, name, origin, now)
            self._note(ControlEventName.QUEUE_PAUSED, name, origin, now)
            self._database.wake(name)
            return Verdict.ACCEPTED

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Resume a queue and wake its idle workers."""
        with self._database.transaction() as now:
            if self._database.queues.get(name) is None:
                return Verdict.ALREADY_APPLIED
            self._database.queues[name] = None
            self._note(ControlEventName.QUEUE_RESUMED, name, origin, now)
            self._database.wake(name)
            return Verdict.ACCEPTED

    async def list(self) -> Sequence[Queue]:
        """Return all queues by name."""
        with self._database.transaction() as now:
            names = self._database.queues.keys() | {job.queue for job in self._database.jobs.values()}
            return [self._counted(name, now) for name in sorted(names)]

    def _counted(self, name: str, now: datetime) -> Queue:
        jobs = [job for job in self._database.jobs.values() if job.queue == name]
        pending = [job for job in jobs if job.state is State.PENDING]
        return Queue(
            name=name,
            paused_at=self._database.queues.get(name),
            pending=len(pending),
            due=sum(job.run_at <= now for job in pending),
            running=sum(job.state is State.RUNNING for job in jobs),
        )

    def _note(self, event: ControlEventName, queue: str, origin: Origin, now: datetime) -> None:
        self._database.append_control(
            ControlEvent(
                subject=f"queue:{queue}",
                name=event,
                at=now,
                actor=origin.actor,
                request_id=origin.request_id,
                reason=origin.reason,
            )
        )
