"""What a new decision has to know of the ledger beside slots that have had theirs: the row that skips go on in."""

from datetime import datetime

from attrs import frozen

from .firing import Firing
from .schedule import Schedule


@frozen
class Entry:
    """A row of the ledger, and the version of the schedule it was decided for; when, decisions need not know."""

    firing: Firing
    version: int
    decided_at: datetime | None = None


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
