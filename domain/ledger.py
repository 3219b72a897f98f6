"""What a new decision has to know of the ledger: slots that have had theirs, and the row that skips go on in."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from itertools import accumulate

from attrs import frozen

from .firing import Firing
from .schedule import Schedule


@frozen
class Entry:
    """A row of the ledger, and the version of the schedule it was decided for; when, decisions need not know."""

    firing: Firing
    version: int
    decided_at: datetime | None = None


class DecidedSlots:
    """A container of the fire times that rows of the ledger are about, alone or inside a range.

    There are such at or after the next fire time only when the clock has stepped back.
    """

    def __init__(self, rows: Iterable[Firing]) -> None:
        """Take rows of the clock's firings, in any order."""
        ranges = sorted((row.fire_at, row.last) for row in rows)
        self._first = [first for first, _ in ranges]
        self._last = list(accumulate((last for _, last in ranges), max))

    def __contains__(self, moment: object) -> bool:
        """Whether the fire time has had its decision."""
        assert isinstance(moment, datetime)
        before = bisect_right(self._first, moment)
        return before > 0 and moment <= self._last[before - 1]


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
