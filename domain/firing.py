"""Firings: the decision about each fire time of a schedule, exactly one, with its reason.

``decide_due`` is total and pure, like ``decide`` for jobs; whoever calls it writes what it returns in one transaction.
"""

import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import groupby

from attrs import define, evolve, field, frozen

from .decided import NONE, DecidedSlots
from .interval import Interval
from .limits import LATEST
from .schedule import (
    CRON,
    MISSED_AFTER,
    Missed,
    Overlap,
    Policies,
    Schedule,
    Slot,
    Timing,
    fire_times,
    unreadable,
)

BATCH_FIRED = 100
"""Jobs that one transaction inserts for schedules that catch up."""
BATCH_TIMES = 5_000
"""Fire times that one decision goes through for one schedule."""
ALL_TIMES = 20_000
"""Fire times that one transaction goes through for all of its schedules."""
_MICROSECOND = timedelta(microseconds=1)


class Outcome(StrEnum):
    """What was decided."""

    FIRED = "fired"
    QUEUED = "queued"
    COALESCED = "coalesced"
    SKIPPED = "skipped"
    BACKFILLED = "backfilled"


class Reason(StrEnum):
    """Why."""

    DUE = "due"
    MISSED = "missed"
    OVERLAP = "overlap"
    WINDOW = "window"
    EDITED = "edited"
    ASKED = "asked"


RANGES = frozenset({Outcome.COALESCED, Outcome.SKIPPED})
"""Decisions that insert no job: consecutive ones with the same reason share a row of the ledger."""
AT_ONCE = frozenset({Outcome.FIRED, Outcome.BACKFILLED})
"""Decisions that insert a job at once."""


@frozen(kw_only=True)
class Firing:
    """A row of the ledger: the decision about ``fire_at``, or about ``count`` fire times from there ``until``."""

    fire_at: datetime
    outcome: Outcome
    reason: Reason
    origin: str = CRON
    until: datetime | None = None
    count: int = 1
    job_id: int | None = None

    @property
    def last(self) -> datetime:
        """The last fire time it is about."""
        return self.until or self.fire_at

    def joins(self, earlier: "Firing | None") -> bool:
        """Whether it may share the row of the one before it."""
        return (
            earlier is not None
            and self.outcome in RANGES
            and (self.outcome, self.reason, self.origin) == (earlier.outcome, earlier.reason, earlier.origin)
        )


@frozen(kw_only=True)
class Decided:
    """What becomes of a schedule: new rows of the ledger in order of time, and where it stands after them.

    ``cancel`` asks the schedule's open jobs to stop.
    """

    firings: tuple[Firing, ...]
    next_fire_at: datetime | None
    waiting: Slot | None
    cancel: bool = False

    def leaves_due(self, now: datetime) -> bool:
        """Whether it was too much for one decision."""
        return self.next_fire_at is not None and self.next_fire_at <= now


def due_at(name: str, timing: Timing, fire_at: datetime) -> datetime:
    """Return when the job of a fire time is due: as much later as the jitter says, the same wherever it is computed."""
    if not timing.jitter:
        return fire_at
    seed = sha256(f"{name}\n{fire_at.isoformat()}".encode()).digest()
    share = int.from_bytes(seed[:8], "big")
    delay = _MICROSECOND * (share * (timing.jitter // _MICROSECOND) >> 64)
    return fire_at + min(delay, LATEST - fire_at)


def decide_due(
    schedule: Schedule, now: datetime, *, busy: bool, decided: DecidedSlots = NONE, among: int = 1
) -> Decided:
    """Decide the fire times that are due, in order, as many as one transaction should.

    ``busy`` says that a job of the schedule is unfinished; ``decided`` fire times have had their decision. The newest
    one that was missed is the one that ``latest`` catches up with, unless one on time stands for it. ``among`` is the
    number of schedules that share the transaction, each of which may fire once at least.
    """
    most = max(1, BATCH_FIRED // among)
    page = Page()
    desk = _Desk(schedule.definition.policies, busy, schedule.waiting)
    fired, undecided = 0, schedule.next_fire_at
    for moment, following in _due(schedule, now, max(1, min(BATCH_TIMES, ALL_TIMES // among))):
        undecided = following
        if moment in decided:
            continue
        firing, desk = desk.judged(moment, now, newest=following is None or following > now)
        page.add(firing, decided.place(moment))
        fired += firing.outcome is Outcome.FIRED
        if fired == most:
            break
    return Decided(firings=tuple(page.rows), next_fire_at=undecided, waiting=desk.waiting, cancel=desk.cancel)


def passed_over(schedule: Schedule, now: datetime, decided: DecidedSlots = NONE) -> tuple[Firing, ...]:
    """Return the decision about what was due when somebody changed, paused or deleted the schedule: skipped."""
    first, timing = schedule.next_fire_at, schedule.definition.timing
    if first is None or first > now:
        return ()
    if unreadable(timing) is not None:  # then no other fire time than the next is known
        due = iter((first,))
    elif isinstance(timing.recurrence, Interval) and not decided:
        return (_edited(first, *timing.recurrence.run(first, min(now, timing.ends_at or now))),)
    else:
        due = (moment for moment, _ in _due(schedule, now, limit=sys.maxsize))
    runs = groupby(due, lambda moment: (moment in decided, decided.place(moment)))
    return tuple(_walked(run) for (is_decided, _), run in runs if not is_decided)


def _walked(run: Iterator[datetime]) -> Firing:
    """Return the one skip that stands for fire times in a row, one by one: there may be very many."""
    first = last = next(run)
    count = 1
    for moment in run:
        last, count = moment, count + 1
    return _edited(first, count, last)


def _edited(first: datetime, count: int, last: datetime) -> Firing:
    until = None if count == 1 else last
    return Firing(fire_at=first, outcome=Outcome.SKIPPED, reason=Reason.EDITED, until=until, count=count)


@define
class Page:
    """New rows of the ledger."""

    rows: list[Firing] = field(factory=list)
    _place: int = 0

    def add(self, firing: Firing, place: int = 0) -> None:
        """Let a firing share the last row, or begin a new one: also where ``DecidedSlots`` have a row between them."""
        if self.rows and place == self._place and firing.joins(self.rows[-1]):
            last = self.rows[-1]
            self.rows[-1] = evolve(last, until=firing.fire_at, count=last.count + 1)
        else:
            self.rows.append(firing)
        self._place = place


def _due(schedule: Schedule, now: datetime, limit: int) -> Iterator[tuple[datetime, datetime | None]]:
    """Yield each fire time that is due with the one that follows it."""
    moment = schedule.next_fire_at
    if moment is None or moment > now:
        return
    following = fire_times(schedule.definition.timing, moment)
    for _ in range(limit):
        after = next(following, None)
        yield moment, after
        if after is None or after > now:
            return
        moment = after


def decide_asked(schedule: Schedule, slot: Slot, overlap: Overlap, *, busy: bool) -> Decided:
    """Decide one firing that an operation asks for, by its own overlap policy; the clock's are left as they are."""
    policies = evolve(schedule.definition.policies, overlap=overlap)
    firing, desk = _Desk(policies, busy, schedule.waiting).wanted(slot, Reason.ASKED)
    return Decided(
        firings=(firing,), next_fire_at=schedule.next_fire_at, waiting=desk.waiting, cancel=desk.cancel
    )


@frozen
class _Desk:
    """What is known while fire times are judged one after the other."""

    policies: Policies
    busy: bool
    waiting: Slot | None
    cancel: bool = False

    def judged(self, moment: datetime, now: datetime, *, newest: bool) -> "tuple[Firing, _Desk]":
        """Decide about a fire time of the clock."""
        policies = self.policies
        late = now - moment
        if policies.catchup_window is not None and late > max(policies.catchup_window, MISSED_AFTER):
            return Firing(fire_at=moment, outcome=Outcome.SKIPPED, reason=Reason.WINDOW), self
        if late <= MISSED_AFTER:
            return self.wanted(Slot(moment), Reason.DUE)
        match policies.missed:
            case Missed.SKIP:
                return Firing(fire_at=moment, outcome=Outcome.SKIPPED, reason=Reason.MISSED), self
            case Missed.LATEST if not newest:
                return Firing(fire_at=moment, outcome=Outcome.COALESCED, reason=Reason.MISSED), self
            case _:
                return self.wanted(Slot(moment), Reason.MISSED)

    def wanted(self, slot: Slot, reason: Reason) -> "tuple[Firing, _Desk]":
        """Decide about a fire time that only other jobs of the schedule can stand in the way of."""
        overlap = self.policies.overlap
        if overlap is Overlap.ALLOW or not (self.busy or self.waiting):
            return _firing(slot, Outcome.FIRED, reason), evolve(self, busy=True)
        if overlap is Overlap.SKIP or self.waiting is not None:
            return _firing(slot, Outcome.SKIPPED, Reason.OVERLAP), self
        cancel = overlap is Overlap.CANCEL_RUNNING
        queued = evolve(self, waiting=evolve(slot, cancels=cancel), cancel=cancel)
        return _firing(slot, Outcome.QUEUED, reason), queued


def _firing(slot: Slot, outcome: Outcome, reason: Reason) -> Firing:
    return Firing(fire_at=slot.fire_at, origin=slot.origin, outcome=outcome, reason=reason)
