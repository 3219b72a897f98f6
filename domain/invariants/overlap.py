"""I31: a schedule's job begins its life only when the overlap policy lets it, given the others that are unfinished.

Judged where a job is inserted, by positions: what ended before it was seen to have ended. By any policy but ``allow``
no other job of the same schedule may be unfinished then, nor of an earlier one of the same name. Three things don't
count:

- a job that was finished once and that somebody has requeued: its second life is not the schedule's doing;
- jobs of a backfill by ``allow``, which run apart;
- of very many unfinished jobs the oldest, which a schedule forgets (``REMEMBERED``).

A firing that an operation asked for is judged by the policy that the operation has named, and begins alone where it was
queued; one of the clock by the policy that the schedule has when its job is inserted. Whatever begins by ``allow``
stands in the way of others all the same.
"""

from collections import deque
from functools import partial

from attrs import define, field, frozen

from ..event import JobEvent
from ..firing import Outcome
from ..firing_jobs import ACTOR
from ..ledger_rows import LedgerRow
from ..schedule import CRON, Overlap
from .course import Course
from .inquiry import Inquiry
from .requests import alone
from .surroundings import Surroundings

REMEMBERED = 900
"""Unfinished jobs of one schedule that count: one batch of firings less than the 1,000 it remembers."""

_BACKFILL = "backfill:"


@frozen
class _Job:
    """A job of a schedule: positions of its first event and of the end of its first life, None while that lasts."""

    job_id: int
    born: int
    ended: int | None
    origin: str


@define(eq=False)
class Overlaps:
    """Takes the jobs of schedules in order of job_id, which is the order in which each schedule has made its own."""

    _unfinished: dict[str, deque[_Job]] = field(factory=dict)

    def check(self, course: Course, entry: LedgerRow | None, inquiry: Inquiry) -> None:
        """Judge a job by those before it."""
        birth = course.birth
        if birth is None or birth.position is None:
            return
        name, born = birth.actor.removeprefix(ACTOR), birth.position
        job = _Job(course.job_id, born, course.ended, _origin(entry))
        others = self._unfinished.get(name, ())
        before = deque((one for one in others if _lasts_beyond(one, born)), REMEMBERED)
        if entry is not None and before:
            self._judge(name, birth, entry, before, inquiry)
        before.append(job)
        self._unfinished[name] = before

    def _judge(
        self, name: str, birth: JobEvent, entry: LedgerRow, before: deque[_Job], inquiry: Inquiry
    ) -> None:
        """Report the first of the others that stands in the way, unless a later look knows better."""
        for other in before:
            cleared = partial(_is_free, name, birth, entry, other)
            if other.born < (birth.position or 0) and not cleared(inquiry.known):
                what = f"schedule {name}: begins while job {other.job_id} is unfinished"
                inquiry.doubt("I31", birth, what, cleared)
                return


def _origin(entry: LedgerRow | None) -> str:
    return CRON if entry is None else entry.origin


def _lasts_beyond(job: _Job, position: int) -> bool:
    return job.ended is None or job.ended > position


def _is_free(name: str, birth: JobEvent, entry: LedgerRow, other: _Job, known: Surroundings) -> bool:
    """Whether a job may begin although another one is unfinished."""
    stint = known.stint(name, birth.position or 0)
    if stint is None or _is_apart(name, other.origin, known):
        return True
    if entry.origin != CRON:
        return entry.outcome != Outcome.QUEUED and not alone(known.overlap_asked(name, entry.origin))
    return stint.terms is None or not alone(stint.terms.policies.overlap)


def _is_apart(name: str, origin: str, known: Surroundings) -> bool:
    """Whether a job is one of a backfill that has nothing to do with the schedule's others."""
    return origin.startswith(_BACKFILL) and known.overlap_asked(name, origin) == Overlap.ALLOW
