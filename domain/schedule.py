"""A schedule: a template of jobs, when they are due, and what happens when that is hard to keep."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from attrs import evolve, field, frozen
from attrs.converters import optional

from .errors import InvalidInput, ScheduleUnreadable
from .job import Specification
from .recurrence import Dst, Recurrence, recurrence
from .values import in_utc

MISSED_AFTER = timedelta(seconds=10)
"""A fire time decided later than this was missed."""


CRON = "cron"
"""The origin of firings that the clock has asked for."""


class Missed(StrEnum):
    """What becomes of fire times that were missed."""

    ALL = "all"
    LATEST = "latest"
    SKIP = "skip"


class Overlap(StrEnum):
    """What becomes of a fire time while a job of the schedule is unfinished."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE_ONE = "queue_one"
    CANCEL_RUNNING = "cancel_running"


@frozen(kw_only=True)
class Timing:
    """When a schedule fires: ``cron`` in the wall clock of ``tz``, from ``starts_at`` on and no later than ``ends_at``.

    ``starts_at`` None, which only a definition that comes in may say, means from the schedule's creation on. ``jitter``
    is the longest time that a job is due after its fire time. ``fault`` is what is wrong with a stored timing that
    nobody can read: this one only stands in for it then.
    """

    cron: str
    tz: str = "UTC"
    dst: Dst = Dst.VIXIE
    starts_at: datetime | None = field(default=None, converter=optional(in_utc))
    ends_at: datetime | None = field(default=None, converter=optional(in_utc))
    jitter: timedelta = timedelta(0)
    fault: str | None = None

    @property
    def start(self) -> datetime:
        """Where it starts, which a schedule that is there always says; raises ValueError where it is left open."""
        if self.starts_at is None:
            raise ValueError("the timing leaves open where it starts")
        return self.starts_at

    @property
    def recurrence(self) -> Recurrence:
        """The fire times, whatever start and end say."""
        return recurrence(self.cron, self.tz, self.dst, starts_at=self.start)

    def starting(self, start: datetime) -> "Timing":
        """Return the same, from ``start`` on unless it says when."""
        return evolve(self, starts_at=start) if self.starts_at is None else self


def usual_overlap(missed: Missed) -> Overlap:
    """Return what goes without saying: skip, but for who catches up with all, whose jobs would stop one another."""
    return Overlap.ALLOW if missed is Missed.ALL else Overlap.SKIP


@frozen(kw_only=True)
class Policies:
    """``catchup_window`` None means that no missed fire time is too old; ``overlap`` left out is the usual one.

    ``pause_on_failure`` pauses the schedule before its next firing when its last job is dead.
    """

    missed: Missed = Missed.LATEST
    catchup_window: timedelta | None = None
    overlap: Overlap = field()
    pause_on_failure: bool = False

    @overlap.default
    def _usual_overlap(self) -> Overlap:
        return usual_overlap(self.missed)


@frozen(kw_only=True)
class Definition:
    """What somebody wants: all of a schedule that an edit can change."""

    timing: Timing
    template: Specification
    policies: Policies = Policies()

    def starting(self, start: datetime) -> "Definition":
        """Return the same, from ``start`` on unless it says when."""
        return evolve(self, timing=self.timing.starting(start))


@frozen
class Slot:
    """One occurrence: a fire time, and who asked for it: the clock (``CRON``) or an operation, by its id.

    While it waits, ``cancels`` says that the jobs it waits for are asked to stop.
    """

    fire_at: datetime
    origin: str = CRON
    cancels: bool = False


@frozen
class Declaration:
    """What code said last of a schedule: which app, by its import path, and the definition as canonical JSON text."""

    app: str
    text: str


@frozen(kw_only=True)
class Schedule:
    """A definition and where it stands; ``version`` grows with every change by somebody.

    ``next_fire_at`` is the first fire time without a decision, None when there is none any more. ``waiting`` is the
    firing whose job is inserted once ``open_jobs``, its unfinished jobs as far as is known, have ended; ``last_job``
    is the newest one. ``declared`` is None for a schedule that no code declares.
    """

    name: str
    definition: Definition
    version: int = 1
    created_at: datetime
    next_fire_at: datetime | None
    paused_at: datetime | None = None
    pause_reason: str | None = None
    waiting: Slot | None = None
    open_jobs: tuple[int, ...] = ()
    last_job: int | None = None
    declared: Declaration | None = None

    @property
    def fault(self) -> str | None:
        """What is wrong with a stored definition that nobody can read: no job may be made of what stands in for it."""
        return self.definition.timing.fault


def fire_times(timing: Timing, after: datetime) -> Iterator[datetime]:
    """Yield the fire times later than ``after``, from the start to the end."""
    from_start = timing.start - timedelta(microseconds=1)
    for found in timing.recurrence.times(max(after, from_start)):
        if timing.ends_at is not None and found > timing.ends_at:
            return
        yield found


def coming(schedule: Schedule, number: int) -> list[datetime]:
    """Return so many of the next fire times that are not decided yet: none while the schedule is paused."""
    first = schedule.next_fire_at
    if first is None:
        return []
    return [first, *islice(fire_times(schedule.definition.timing, first), number - 1)]


def unreadable(timing: Timing) -> str | None:
    """Return what is wrong with a stored timing that can't be read any more: its zone is gone, say."""
    if timing.fault is not None:
        return timing.fault
    try:
        recurrence(timing.cron, timing.tz, timing.dst, starts_at=timing.start)
    except InvalidInput as error:
        return str(error)
    return None


def readable(schedule: Schedule) -> Schedule:
    """Return a schedule that has a definition; raises ScheduleUnreadable for any other."""
    if schedule.fault is not None:
        raise ScheduleUnreadable(schedule.name, schedule.fault)
    return schedule


def first_fire_time(timing: Timing, after: datetime) -> datetime | None:
    """Return the first fire time later than ``after``, or None."""
    return next(fire_times(timing, after), None)
