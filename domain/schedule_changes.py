"""What people do to schedules: the schedule as it is afterwards, and the decisions about what was due until then.

``decided`` holds fire times that have had their decision already, before the clock stepped back.
"""

from datetime import datetime
from typing import Any

from attrs import evolve, frozen

from .decided import NONE, DecidedSlots
from .firing import Decided, Firing, passed_over
from .firing_jobs import remembered
from .schedule import Definition, Schedule, first_fire_time, unreadable
from .scheduling import check_room


@frozen(kw_only=True)
class Change:
    """The schedule as it is from now on, and rows of the ledger for fire times that the change came before."""

    schedule: Schedule
    firings: tuple[Firing, ...] = ()

    @property
    def decided(self) -> Decided:
        """Those rows as a decision, after which what waits waits on."""
        return Decided(firings=self.firings, next_fire_at=None, waiting=self.schedule.waiting)


def created(name: str, definition: Definition, now: datetime) -> Schedule:
    """Return a new schedule: it fires for the first time after now, and starts now unless its definition says when.

    Raises InvalidInput when that start leaves no room for a fire time.
    """
    whole = definition.starting(now)
    check_room(whole.timing, "now" if definition.timing.starts_at is None else "starts_at")
    first = first_fire_time(whole.timing, now)
    return Schedule(name=name, definition=whole, created_at=now, next_fire_at=first)


def is_defined_by(schedule: Schedule, definition: Definition) -> bool:
    """Whether a definition says what the schedule does already, its start if it is left open."""
    return schedule.definition == definition.starting(schedule.definition.timing.start)


def edited(schedule: Schedule, definition: Definition, now: datetime, decided: DecidedSlots = NONE) -> Change:
    """Replace the definition; what was due by the old timing and is not decided yet is skipped.

    What is due by a timing that stays as it is will be decided by the new policies. The start stays where it is unless
    the definition says when. Raises InvalidInput when that leaves no room for a fire time. Only for a definition that
    changes something, see ``is_defined_by``.
    """
    definition = definition.starting(schedule.definition.timing.start)
    check_room(definition.timing)
    if schedule.paused_at is not None or definition.timing == schedule.definition.timing:
        return Change(schedule=_next(schedule, definition=definition))
    changed = _next(schedule, definition=definition, next_fire_at=first_fire_time(definition.timing, now))
    return Change(schedule=changed, firings=passed_over(schedule, now, decided))


def rezoned(schedule: Schedule, now: datetime) -> Schedule:
    """Compute the next fire time anew, as an edit does, for rules of time zones may have changed.

    The schedule is as it was if that comes to the same, if the fire time has come, or if its rules can't be read.
    """
    timing = schedule.definition.timing
    if schedule.next_fire_at is None or schedule.next_fire_at <= now or unreadable(timing) is not None:
        return schedule
    first = first_fire_time(timing, now)
    return schedule if first == schedule.next_fire_at else _next(schedule, next_fire_at=first)


def paused(schedule: Schedule, reason: str | None, now: datetime, decided: DecidedSlots = NONE) -> Change:
    """Stop firing: from here until ``resumed`` there are no fire times."""
    stopped = _next(schedule, paused_at=now, pause_reason=reason, next_fire_at=None)
    return Change(schedule=stopped, firings=passed_over(schedule, now, decided))


def resumed(schedule: Schedule, now: datetime) -> Change:
    """Fire again, for the first time after now; how the last job has ended does not count any more.

    That it may be unfinished again does: somebody may have requeued it.
    """
    return Change(
        schedule=_next(
            schedule,
            paused_at=None,
            pause_reason=None,
            next_fire_at=first_fire_time(schedule.definition.timing, now),
            open_jobs=tuple(remembered(schedule)),
            last_job=None,
        )
    )


def deleted(schedule: Schedule, now: datetime, decided: DecidedSlots = NONE) -> Change:
    """Return the schedule as it ends; what was due and is not decided yet is skipped."""
    ended = _next(schedule, next_fire_at=None, waiting=None)
    return Change(schedule=ended, firings=passed_over(schedule, now, decided))


def _next(schedule: Schedule, **changes: Any) -> Schedule:
    return evolve(schedule, version=schedule.version + 1, **changes)
