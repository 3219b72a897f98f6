"""The fire times that one definition gives while it is in force, one after the other."""

from collections.abc import Iterator
from datetime import datetime

from attrs import define, field, frozen

from ..interval import Interval, is_interval
from ..schedule import fire_times
from ..zones import TZ_VERSION
from .stints import Stint, Terms

SEARCHED = 10_000
"""Fire times without a decision that are counted in one place; whoever misses more need not know how many."""

_WORTH_COMPUTING = 1_000


@frozen
class Gap:
    """Fire times without a decision: the first, and how many."""

    first: datetime
    number: int

    def __str__(self) -> str:
        """Say so."""
        more = f", nor have {self.number - 1} after it" if self.number > 1 else ""
        return f"fire time {self.first} has no decision{more}"


@define(eq=False)
class Span:
    """The fire times of an active stint, each later than where it begins.

    ``end`` is the change that ended it. Those up to where the next one begins, or before the schedule's next fire time
    while it lasts, are due: each must have its decision. Later ones have one only when the clock was set back before
    the change.
    """

    stint: Stint
    terms: Terms
    end: Stint | None
    due_before: datetime | None
    following: datetime | None = None
    tz_version: str | None = None
    """The version of the tz database that the latest of its decisions was made with."""
    _times: Iterator[datetime] = field(factory=lambda: iter(()))

    def __attrs_post_init__(self) -> None:
        """Go to the first fire time."""
        self.tz_version = self.stint.tz_version
        self.go_to(self.stint.since + self.stint.since.resolution)

    def take(self) -> datetime | None:
        """Return the following fire time, and go on to the next."""
        taken, self.following = self.following, next(self._times, None)
        return taken

    def go_to(self, moment: datetime) -> None:
        """Go on with the first fire time at or after a moment."""
        self._times = fire_times(self.terms.timing, moment - moment.resolution)
        self.following = next(self._times, None)

    def pass_by(self, moment: datetime, decided: datetime | None) -> Gap | None:
        """Go on to a moment; return what lies before it, is due and was not ``decided``, up to which all was."""
        first, number = None, 0
        while self.following is not None and self.following < moment:
            if self.due_before is None or self.following >= self.due_before or number == SEARCHED:
                self.go_to(moment)
            elif decided is not None and self.following <= decided:
                self.go_to(min(moment, decided + decided.resolution))
            else:
                first, number = first or self.following, number + 1
                self.take()
        return None if first is None else Gap(first, number)

    def count(self, until: datetime, most: int) -> tuple[int, datetime | None]:
        """Go on beyond a moment; return how many fire times that took, one more than ``most`` if many, and the last."""
        if most > _WORTH_COMPUTING and isinstance(self.terms.timing.recurrence, Interval):
            return self._computed(until, self.terms.timing.recurrence)
        number, last = 0, None
        while self.following is not None and self.following <= until:
            if number > most:
                self.go_to(until + until.resolution)
                break
            number, last = number + 1, self.take()
        return number, last

    def _computed(self, until: datetime, interval: Interval) -> tuple[int, datetime | None]:
        """Count without going from one fire time to the next."""
        first, end = self.following, min(until, self.terms.timing.ends_at or until)
        if first is None or first > end:
            return 0, None
        self.go_to(until + until.resolution)
        return interval.run(first, end)


def is_computable(terms: Terms, *tz_versions: str | None) -> bool:
    """Whether fire times found under these versions of the tz database can be computed again."""
    timing = terms.timing
    return timing.tz == "UTC" or is_interval(timing.cron) or all(one == TZ_VERSION for one in tz_versions)
