"""Appetite: which queues are worth a claim now, and when the next one will be."""

from collections.abc import Callable, Collection, Iterable
from datetime import timedelta

from ..ports.local_time import LocalTime

LINGER = 0.005
"""Seconds that a busy worker collects free slots, or finished jobs, before it sends a statement for very few."""
FEW = 8
"""Fewer than one in so many are very few."""


class Appetite:
    """A queue that gave all it had is dry until a wake-up, a due time or the poll says otherwise."""

    def __init__(
        self,
        queues: Collection[str],
        most: Callable[[str], int],
        room: Callable[[str], int],
        time: LocalTime,
        poll: float,
    ) -> None:
        """Start with no queue dry; ``most`` tells how many jobs one claim may ask for, ``room`` how many now."""
        self._queues, self._most, self._room, self._time, self._poll = queues, most, room, time, poll
        self._dry: set[str] = set()
        self._woken: set[str] = set()
        self._due: dict[str, float] = {}
        self._poll_at = time.monotonic() + poll

    def servings(self) -> Iterable[tuple[str, int]]:
        """Yield each queue worth a claim with the number of jobs to ask for."""
        for queue in self._queues:
            if queue not in self._dry and (room := self._room(queue)) > 0:
                self._woken.discard(queue)
                yield queue, room

    def emptied(self, queue: str, sent: float, next_due_in: timedelta | None) -> None:
        """Hear that a claim sent at that moment left nothing; a wake-up that came while it was on its way counts."""
        if queue not in self._woken:
            self._dry.add(queue)
        self._due.pop(queue, None)
        if next_due_in is not None:
            self._due[queue] = sent + next_due_in.total_seconds()

    def wake(self, queues: Iterable[str]) -> None:
        """Hear a wake-up."""
        self._woken.update(queues)
        self._dry.difference_update(queues)

    def wake_all(self) -> None:
        """Try every queue once more."""
        self._dry.clear()

    @property
    def starving(self) -> bool:
        """Whether some queue with free slots is dry: only a wake-up would fill them at once."""
        return any(self._room(queue) > 0 for queue in self._dry)

    @property
    def meagre(self) -> bool:
        """Whether all that could be asked for now is a few jobs, of queues whose many slots are nearly all busy."""
        rooms = [(queue, room) for queue in self._queues if (room := self._room(queue)) > 0]
        return bool(rooms) and all(room * FEW < self._most(queue) for queue, room in rooms)

    @property
    def sated(self) -> bool:
        """Whether no queue has room: no wake-up could change anything."""
        return all(self._room(queue) <= 0 for queue in self._queues)

    def patience(self) -> float:
        """Return the seconds until a queue is due or the poll is."""
        return min([self._poll_at, *self._due.values()]) - self._time.monotonic()

    def refresh(self) -> None:
        """Forget dryness whose time is over."""
        now = self._time.monotonic()
        for queue in [queue for queue, moment in self._due.items() if moment <= now]:
            del self._due[queue]
            self._dry.discard(queue)
        if now >= self._poll_at:
            self._poll_at = now + self._poll
            self._dry.clear()
