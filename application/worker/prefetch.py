"""Prefetch: jobs claimed before there is a slot for them, so that quick handlers need not wait for the next claim.

How many may wait follows from what is measured: no more than the slots get through in a moment, and none while nothing
is known. They hold their leases like those that run; who has waited too long all the same is handed back. That is free
for the job but counted, so it is kept rare: a line that was handed back stays closed until its slots move again, and
over time no more go back than a share of those that begin.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from math import inf

from attrs import define, field

from ..ports.job_store import ClaimedJob
from ..ports.local_time import LocalTime
from .attempt import Attempt

MOMENT = 0.1
"""Seconds within which a job that waits should get its slot, unless its lease asks for sooner."""
LEASE_SHARE = 0.1
"""The share of its lease after which a job that still waits is handed back, counted from when its claim was sent."""
MOST_TEXT = 16 * 1024 * 1024
"""Characters of payloads that wait for one queue, as far as their average tells."""
CREDIT = 4_000
"""How many jobs of a queue a worker may hand back before it has earned more."""
EARNED = 0.1
"""What each handler that begins earns: in the long run, so many go back for each that runs."""
_MEMORY = 0.2
"""The weight of the newest in the averages."""
_ONE_IN = 8


@define
class Line:
    """What waits for the slots of one queue, and what decides how much may."""

    slots: int
    waiting: deque[Attempt] = field(factory=deque)
    credit: float = CREDIT
    _begun: int = 0
    _since: dict[Attempt, float] = field(factory=dict)
    _run: float | None = None
    _size: float = 0.0
    _moment: float = 0.0
    _stale_at: float = inf

    def claimed(self, jobs: Sequence[ClaimedJob], took: float) -> None:
        """Learn how large jobs are, how long their leases, and how many seconds of those a claim takes."""
        size = sum([len(job.payload or "") for job in jobs]) / len(jobs)
        self._size = max(size, self._size + _MEMORY * (size - self._size))
        self._moment = min(MOMENT, LEASE_SHARE * min([job.lease for job in jobs]).total_seconds() - took)

    def begun(self, attempt: Attempt, time: LocalTime) -> None:
        """Hear that an attempt has got a slot.

        One in a few is timed: looking at each takes as long as a quick one. That begins with the slot and not with the
        handler: where handlers block one another, the waiting for each other is part of it.
        """
        self._begun += 1
        if self._begun % _ONE_IN == 0:
            self._since[attempt] = time.monotonic()
            self.credit = min(CREDIT, self.credit + EARNED * _ONE_IN)

    def ended(self, attempt: Attempt, time: LocalTime) -> None:
        """Hear that an attempt has left its slot."""
        since = self._since.pop(attempt, None)
        if since is not None:
            seconds = time.monotonic() - since
            self._run = seconds if self._run is None else self._run + _MEMORY * (seconds - self._run)

    def wait(self, attempt: Attempt) -> None:
        """Let an attempt wait behind the others."""
        self.waiting.append(attempt)
        self._stale_at = min(self._stale_at, _stale_at(attempt))

    @property
    def most(self) -> float:
        """How many jobs may wait, those that do included."""
        if self._run is None or self._moment <= 0:
            return 0
        passing = self.slots * self._moment / max(self._run, 1e-6)
        return min(passing, self.credit, MOST_TEXT / max(self._size, 1))

    @property
    def stale_at(self) -> float:
        """A moment before which nothing has waited for too long."""
        return self._stale_at if self.waiting else inf

    def stale(self, now: float) -> list[Attempt]:
        """Take out what has waited for too long; what was measured so far is not believed any more."""
        if self.stale_at > now:
            return []
        late = [attempt for attempt in self.waiting if _stale_at(attempt) <= now]
        if late:
            self.waiting = deque(attempt for attempt in self.waiting if _stale_at(attempt) > now)
            self.credit -= len(late)
            self._run = None
            self._since.clear()
        self._stale_at = min(map(_stale_at, self.waiting), default=inf)
        return late


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
        return max(0, int(self._lines[queue].most))

    def room(self, queue: str) -> int:
        """Return how many more may be claimed than there are free slots; too many may wait already."""
        return self.most(queue) - len(self._lines[queue].waiting)

    def line(self, queue: str) -> Line:
        """Return what waits for the slots of a queue."""
        return self._lines[queue]

    def stale(self, now: float) -> list[Attempt]:
        """Take out what has waited for too long."""
        return [attempt for line in self._lines.values() for attempt in line.stale(now)]

    def clear(self, queue: str | None = None) -> list[Attempt]:
        """Take out all that waits for a queue, or for any."""
        lines = self._lines.values() if queue is None else [self._lines[queue]]
        waiting = [attempt for line in lines for attempt in line.waiting]
        for line in lines:
            line.waiting.clear()
        return waiting

    @property
    def stale_at(self) -> float:
        """A moment before which nothing has waited for too long."""
        return min(line.stale_at for line in self._lines.values())


def _stale_at(attempt: Attempt) -> float:
    return attempt.sent + LEASE_SHARE * attempt.lease
