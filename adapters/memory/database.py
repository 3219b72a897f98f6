"""What one PostgreSQL schema would hold, in dictionaries."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from threading import RLock
from typing import Any

from attrs import define, evolve, field, frozen

from ...domain.backfill import Backfill
from ...domain.event import ControlEvent, JobEvent
from ...domain.evolve import evolve as applied
from ...domain.job import Job
from ...domain.ledger import Entry
from ...domain.schedule import Schedule, Slot
from ...domain.vocabulary import State


@frozen
class UsedKey:
    """A submit key's first use: what was asked, what was answered, and until when that binds."""

    request_digest: str
    job_id: int
    expires_at: datetime


@frozen
class UniqueHold:
    """Which job holds a unique key; ``until`` None means as long as it is unfinished."""

    job_id: int
    until: datetime | None


@define(eq=False)
class Listener:
    """One worker's ear: the queues it waits for, and those it was woken for since it last looked."""

    queues: frozenset[str]
    idle: bool = False
    woken: set[str] = field(factory=set)
    signal: asyncio.Event = field(factory=asyncio.Event)


class MemoryDatabase:
    """Rows, events and keys. ``clock`` plays the database's clock: it alone decides leases and due times."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        """Start empty: no job, no event, no known queue."""
        self.clock = clock
        self.jobs: dict[int, Job] = {}
        """By job_id, and in its order."""
        self.log: list[JobEvent | ControlEvent] = []
        """Everything in order of positions, which count from 1 without gaps."""
        self.job_events: dict[int, list[JobEvent]] = {}
        self.control_events: list[ControlEvent] = []
        self.queues: dict[str, datetime | None] = {}
        """Known queues and since when they are paused."""
        self.submit_keys: dict[tuple[str, str, str], UsedKey] = {}
        self.unique_keys: dict[str, UniqueHold] = {}
        self.schedules: dict[str, Schedule] = {}
        self.ledgers: dict[str, dict[Slot, Entry]] = {}
        """By the name of a schedule, which they outlive."""
        self.backfills: dict[str, Backfill] = {}
        self.bells: list[Callable[[], None]] = []
        """Of schedulers that sleep until a fire time."""
        self.writes: list[Any] = []
        """What committed transactions of handlers have written."""
        self.listeners: dict[str, Listener] = {}
        self._locks: Counter[int] = Counter()
        self._job_ids = count(1)
        self._mutex = RLock()

    @contextmanager
    def transaction(self) -> Iterator[datetime]:
        """Keep other threads out and yield the clock, read once nobody else can change anything."""
        with self._mutex:
            yield self.clock()

    @contextmanager
    def locked(self, *job_ids: int) -> Iterator[None]:
        """Play somebody else who holds these jobs' row locks."""
        self._locks.update(job_ids)
        try:
            yield
        finally:
            self._locks.subtract(job_ids)

    def is_locked(self, job_id: int) -> bool:
        """Whether somebody else holds the job's row lock."""
        return self._locks[job_id] > 0

    def is_open(self, queue: str) -> bool:
        """Whether the queue is known and not paused."""
        return queue in self.queues and self.queues[queue] is None

    def next_job_id(self) -> int:
        """Return 1, 2, 3 …"""
        return next(self._job_ids)

    def append(self, event: JobEvent) -> Job:
        """Write an event and the row that follows from it, and wake idle workers when the job waits again."""
        job = applied(self.jobs.get(event.job_id), event)
        self.jobs[job.job_id] = job
        placed = evolve(event, position=len(self.log) + 1)
        self.log.append(placed)
        self.job_events.setdefault(job.job_id, []).append(placed)
        if job.state is State.PENDING:
            self.wake(job.queue)
        return job

    def append_control(self, event: ControlEvent) -> None:
        """Write a control event; its position is the next in the same log."""
        placed = evolve(event, position=len(self.log) + 1)
        self.log.append(placed)
        self.control_events.append(placed)

    def ring(self) -> None:
        """Hint to sleeping schedulers that a fire time may have come earlier."""
        for bell in self.bells:
            bell()

    def wake(self, queue: str) -> None:
        """Hint to idle workers of the queue that work may be waiting."""
        for listener in self.listeners.values():
            if listener.idle and queue in listener.queues:
                listener.woken.add(queue)
                listener.signal.set()
