"""What a new decision has to know of the ledger beside slots that have had theirs: the row that skips go on in."""

from datetime import datetime

from attrs import frozen

from .firing import Firing
from .schedule import Schedule


@frozen
class Entry:
    """A row of the ledger: what was decided, when, for which version of the schedule and by which tz database.

    A row that skips go on in keeps what its first one says.
    """

    firing: Firing
    version: int
    tz_version: str
    decided_at: datetime


def goes_on(schedule: Schedule, newest: Entry | None, first: Firing) -> bool:
    """Whether new skips share the ledger's newest row: nothing lies between them, and nobody changed the schedule.

    A row of an earlier schedule of the same name is none of this one's.
    """
    return (
        newest is not None
        and first.joins(newest.firing)
        and newest.version == schedule.version
        and schedule.created_at < newest.firing.fire_at
        and newest.firing.last < first.fire_at
    )
