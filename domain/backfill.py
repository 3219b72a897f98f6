"""Backfills: the fire times of a range of the past, decided once more because somebody asked for it.

``decide_next`` is total and pure; whoever calls it writes what it returns in one transaction, so that a backfill goes
on where it was when whatever carries it out is killed.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, takewhile

from attrs import evolve, frozen

from .commands import Origin
from .errors import InvalidInput
from .firing import BATCH_FIRED, BATCH_TIMES, Firing, Outcome, Page, Reason
from .schedule import Overlap, Schedule, Timing
from .values import check_moment, check_priority

MOST_TIMES = 10_000
"""Fire times of one backfill."""
_OVERLAPS = frozenset({Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE_ONE})
_MICROSECOND = timedelta(microseconds=1)


class Ending(StrEnum):
    """How a backfill has ended: everything was decided, somebody stopped it, or its schedule was deleted."""

    DONE = "done"
    STOPPED = "stopped"
    DELETED = "deleted"


@frozen(kw_only=True)
class Wanted:
    """What somebody asks for: the fire times from ``from_at`` to ``to_at``, both included.

    ``priority`` None is the template's. ``overlap``: ``allow`` makes jobs that have nothing to do with the schedule's
    others; ``skip`` passes over fire times that meet an unfinished job, ``queue_one`` waits until there is none.
    """

    from_at: datetime
    to_at: datetime
    priority: int | None = None
    overlap: Overlap = Overlap.ALLOW


@frozen(kw_only=True)
class Backfill:
    """What was wanted, and how far it has come; ``backfill_id`` is the origin of its firings.

    ``timing`` is the schedule's when it was asked for: an edit changes the jobs to come, and not the range. ``total``
    fire times lie in it, ``decided`` of them have been decided, and ``fired`` of those got a job. ``next_at`` is the
    first one without a decision, None when it has ended.
    """

    backfill_id: str
    schedule: str
    wanted: Wanted
    timing: Timing
    total: int
    decided: int = 0
    fired: int = 0
    next_at: datetime | None
    requested_at: datetime
    origin: Origin
    ended_at: datetime | None = None
    ending: Ending | None = None


@frozen
class Step:
    """New rows of the ledger in order of time, and the backfill as it stands after them."""

    backfill: Backfill
    firings: tuple[Firing, ...]


def times_between(timing: Timing, first: datetime, last: datetime) -> Iterator[datetime]:
    """Yield the fire times from ``first`` to ``last``, both included, however early; none after the schedule's end."""
    end = last if timing.ends_at is None else min(last, timing.ends_at)
    return takewhile(lambda moment: moment <= end, timing.recurrence.times(first - _MICROSECOND))


def check_wanted(wanted: Wanted) -> None:
    """Check what needs neither the schedule nor the clock; raises InvalidInput."""
    check_moment("from", wanted.from_at)
    if check_moment("to", wanted.to_at) < wanted.from_at:
        raise InvalidInput("to", "must not be earlier than from")
    if wanted.priority is not None:
        check_priority("priority", wanted.priority)
    if wanted.overlap not in _OVERLAPS:
        raise InvalidInput("overlap", "must be allow, skip or queue_one: a backfill stops no job that runs")


def size(timing: Timing, wanted: Wanted, now: datetime) -> int:
    """Return how many fire times are wanted; raises InvalidInput when they are too many, or the range is not over."""
    check_wanted(wanted)
    if wanted.to_at > now:
        raise InvalidInput("to", "must not be later than now: what is to come fires by itself")
    found = sum(1 for _ in islice(times_between(timing, wanted.from_at, wanted.to_at), MOST_TIMES + 1))
    if found > MOST_TIMES:
        raise InvalidInput(
            "to",
            f"must leave at most {MOST_TIMES} fire times since from: ask for a shorter range, several times",
        )
    return found


def requested(
    backfill_id: str, schedule: Schedule, wanted: Wanted, origin: Origin, now: datetime
) -> Backfill:
    """Return a new backfill, which has ended already when no fire time lies in its range; raises InvalidInput."""
    timing = schedule.definition.timing
    total = size(timing, wanted, now)
    backfill = Backfill(
        backfill_id=backfill_id,
        schedule=schedule.name,
        wanted=wanted,
        timing=timing,
        total=total,
        next_at=next(times_between(timing, wanted.from_at, wanted.to_at), None),
        requested_at=now,
        origin=Origin(origin.actor, origin.request_id, origin.reason),
    )
    return backfill if total else ended(backfill, Ending.DONE, now)


def decide_next(
    backfill: Backfill, schedule: Schedule, now: datetime, *, busy: bool, most: int = BATCH_FIRED
) -> Step:
    """Decide the next fire times, in order: ``most`` jobs at a time; ``busy``: a job of the schedule is unfinished.

    A firing of the clock that waits for jobs to end goes before a backfill that does; one of a paused schedule waits
    for somebody, and holds nothing up.
    """
    if backfill.next_at is None:
        return Step(backfill, ())
    occupied = busy or (schedule.waiting is not None and schedule.paused_at is None)
    overlap = backfill.wanted.overlap
    page = Page()
    fired, number, undecided = 0, 0, None
    for moment in times_between(backfill.timing, backfill.next_at, backfill.wanted.to_at):
        if fired == most or number == BATCH_TIMES or (occupied and overlap is Overlap.QUEUE_ONE):
            undecided = moment
            break
        makes_job = overlap is Overlap.ALLOW or not occupied
        page.add(_firing(backfill, moment, makes_job=makes_job))
        fired, number, occupied = fired + makes_job, number + 1, True
    moved = evolve(
        backfill, next_at=undecided, decided=backfill.decided + number, fired=backfill.fired + fired
    )
    return Step(ended(moved, Ending.DONE, now) if undecided is None else moved, tuple(page.rows))


def ended(backfill: Backfill, ending: Ending, now: datetime) -> Backfill:
    """End it; jobs that it has made stay."""
    return evolve(backfill, next_at=None, ended_at=now, ending=ending)


def _firing(backfill: Backfill, moment: datetime, *, makes_job: bool) -> Firing:
    return Firing(
        fire_at=moment,
        outcome=Outcome.BACKFILLED if makes_job else Outcome.SKIPPED,
        reason=Reason.ASKED if makes_job else Reason.OVERLAP,
        origin=backfill.backfill_id,
    )
