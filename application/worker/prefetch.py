"""Prefetch: jobs claimed before there is a slot for them, so that quick handlers need not wait for the next claim.

How many may wait follows from what is measured: no more than the slots get through in a moment, and none while nothing
is known. They hold their leases like those that run; who has waited too long all the same is handed back.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from math import inf

from attrs import define, field

from ..ports.job_store import ClaimedJob
from ..ports.local_time import LocalTime
from .attempt import Attempt

MOMENT = 0.1
"""Seconds within which a job that waits should get its slot; a tenth of its lease if that is shorter."""
LEASE_SHARE = 0.1
"""The share of its lease after which a job that still waits is handed back."""
MOST_BYTES = 16 * 1024 * 1024
"""Payloads that wait for one queue, as far as their average tells."""
_MEMORY = 0.2
"""The weight of the newest in the averages."""
_ONE_IN = 8


@define
class Line:
    """What waits for the slots of one queue, and the averages that decide how much may."""

    slots: int
    waiting: deque[Attempt] = field(factory=deque)
    _ended: int = 0
    _run: float | None = None
    _bytes: float = 0.0
    _lease: float = 0.0

    def ended(self, attempt: Attempt, time: LocalTime) -> None:
        """Learn how long handlers have their slots, from one in a few: looking at each takes as long as a quick one."""
        self._ended += 1
        if self._ended % _ONE_IN or attempt.started is None:
            return
        seconds = time.monotonic() - attempt.started
        self._run = seconds if self._run is None else self._run + _MEMORY * (seconds - self._run)

    def claimed(self, job: ClaimedJob) -> None:
        """Learn how large jobs are, and how long their leases."""
        self._bytes += _MEMORY * (len(job.payload or "") - self._bytes)
        self._lease = job.lease.total_seconds()

    @property
    def most(self) -> float:
        """How many jobs may wait, those that do included."""
        if self._run is None:
            return 0
        moment = min(MOMENT, LEASE_SHARE * self._lease)
        return min(self.slots * moment / max(self._run, 1e-6), MOST_BYTES / max(self._bytes, 1))


class Prefetch:
    """One line for each queue; belongs to the worker's loop."""

    def __init__(self, queues: Mapping[str, int]) -> None:
        """Start empty; ``queues`` gives the slots."""
        self._lines = {queue: Line(slots) for queue, slots in queues.items()}

    def __len__(self) -> int:
        """Return how many jobs wait."""
        return sum(len(line.waiting) for line in self._lines.values())

    def most(self, queue: str) -> int:
        """Return how many may wait for a queue's slots, those that do included."""
        return int(self._lines[queue].most)

    def room(self, queue: str) -> int:
        """Return how many more may be claimed than there are free slots; too many may wait already."""
        return self.most(queue) - len(self._lines[queue].waiting)

    def line(self, queue: str) -> Line:
        """Return what waits for the slots of a queue."""
        return self._lines[queue]

    def stale(self, now: float) -> Iterator[Attempt]:
        """Take out what has waited for too long."""
        for line in self._lines.values():
            while line.waiting and _stale_at(line.waiting[0]) <= now:
                yield line.waiting.popleft()

    def clear(self, queue: str | None = None) -> Iterator[Attempt]:
        """Take out all that waits for a queue, or for any."""
        for name, line in self._lines.items():
            while line.waiting and queue in (None, name):
                yield line.waiting.popleft()

    @property
    def stale_at(self) -> float:
        """When the first of those that wait will have waited for too long."""
        return min((_stale_at(line.waiting[0]) for line in self._lines.values() if line.waiting), default=inf)


def _stale_at(attempt: Attempt) -> float:
    return attempt.sent + LEASE_SHARE * attempt.lease
