"""What a judge of jobs must know beside their own events: the clock, pauses, erasures, tombstones, schedules."""

from bisect import bisect_left
from datetime import datetime

from attrs import Factory, define

from ..event import ControlEvent
from ..vocabulary import ControlEventName as Name
from .stints import Changes, Stint


@define
class Pauses:
    """One queue's pauses as positions: ``begins[i]`` to ``ends[i]``; None while the last one lasts."""

    begins: list[int] = Factory(list)
    ends: list[int | None] = Factory(list)

    def begin(self, position: int) -> None:
        """Open a pause unless one is open."""
        if not self.ends or self.ends[-1] is not None:
            self.begins.append(position)
            self.ends.append(None)

    def end(self, position: int) -> None:
        """Close the open pause, if there is one."""
        if self.ends and self.ends[-1] is None:
            self.ends[-1] = position

    def cover(self, position: int) -> bool:
        """Whether the position lies inside a pause."""
        index = bisect_left(self.begins, position) - 1
        if index < 0:
            return False
        end = self.ends[index]
        return end is None or position < end


@define(eq=False)
class Surroundings:
    """Learns from control events in order of position; ``clock`` is the database's, read by the verifier."""

    clock: datetime
    pauses: dict[str, Pauses] = Factory(dict)
    erased: set[int] = Factory(set)
    mentioned: set[int] = Factory(set)
    """Jobs that a control event is about: they exist, or were pruned."""
    schedules: dict[str, Changes] = Factory(dict)
    _pruned: set[int] = Factory(set)
    _pruned_ranges: list[tuple[int, int]] = Factory(list)

    def learn(self, event: ControlEvent) -> None:
        """Take in one control event; names this version does not know teach nothing."""
        kind, _, name = event.subject.partition(":")
        if kind == "job" and name.isdecimal():
            self.mentioned.add(int(name))
            if event.name is Name.PAYLOAD_ERASED:
                self.erased.add(int(name))
        elif kind == "queue" and event.position is not None:
            self._learn_of_queue(name, event.name, event.position)
        elif kind == "schedule":
            self.schedules.setdefault(name, Changes()).learn(event)
        if event.name is Name.JOBS_PRUNED:
            self._learn_of_pruning(event)

    def paused(self, queue: str | None, position: int) -> bool:
        """Whether no claim from the queue may have this position."""
        pauses = self.pauses.get(queue) if queue is not None else None
        return pauses is not None and pauses.cover(position)

    def pruned(self, job_id: int) -> bool:
        """Whether a tombstone covers the job."""
        return job_id in self._pruned or any(first <= job_id <= last for first, last in self._pruned_ranges)

    def stint(self, schedule: str, position: int) -> Stint | None:
        """Return the stint of a schedule that a position lies in."""
        changes = self.schedules.get(schedule)
        return None if changes is None else changes.in_force(position)

    def overlap_asked(self, schedule: str, origin: str) -> object:
        """Return the overlap policy that an operation has named for its firings; None when nobody asked for them."""
        changes = self.schedules.get(schedule)
        request = None if changes is None else changes.requests.get(origin)
        return None if request is None else request.overlap

    def _learn_of_queue(self, queue: str, name: Name, position: int) -> None:
        if name is Name.QUEUE_PAUSED:
            self.pauses.setdefault(queue, Pauses()).begin(position)
        elif name is Name.QUEUE_RESUMED and queue in self.pauses:
            self.pauses[queue].end(position)

    def _learn_of_pruning(self, event: ControlEvent) -> None:
        match event.data:
            case {"job_ids": [*job_ids]}:
                self._pruned.update(job_ids)
            case {"from": int(first), "to": int(last)}:
                self._pruned_ranges.append((first, last))
            case _:
                pass
