"""Cron expressions: their fire times in a zone."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from .cron_days import Calendar, EveryDay, every_day, searches
from .cron_fields import canonical, read_fields, spaced
from .cron_words import sentence
from .errors import InvalidInput
from .wall_clock import DAY, END, Dst, Stretch, at_minute, minute_after, stretch_at


class Cron:
    """Five fields or an alias, followed by the wall clock of ``zone``."""

    def __init__(self, expression: str, zone: ZoneInfo, dst: Dst) -> None:
        """Read plain ASCII text; raises InvalidInput for what the grammar refuses and for dates that never come."""
        self.expression = canonical(expression)
        self._fields = read_fields(spaced(expression))
        self._zone = zone
        self._dst = dst
        self._fixed = dst is Dst.VIXIE and not self._fields.real_time
        self._minutes = array("H", self._fields.minutes_of_day())
        self._every_day = every_day(self._fields)
        self._searches = [] if self._every_day else searches(self._fields)
        if not (self._every_day or self._searches):
            raise InvalidInput(
                "cron", "names dates that never come, like 30 February: write days its months have"
            )

    def times(self, after: datetime) -> Iterator[datetime]:
        """Yield every fire time strictly after an aware moment, ascending, in UTC, up to the calendar's end.

        Raises InvalidInput for a naive moment.
        """
        return map(at_minute, self._fires(minute_after(after)))

    def words(self) -> str:
        """Return one English sentence."""
        return sentence(self._fields, self._zone, self._dst)

    def _fires(self, at: int) -> Iterator[int]:
        """Yield the minutes of UTC that fire from ``at`` on, one stretch of constant offset at a time."""
        calendar = EveryDay() if self._every_day else Calendar(self._searches)
        while at < END:
            stretch = stretch_at(self._zone, at)
            yield from self._within(stretch, at, calendar)
            # Zones are less than a day off UTC, and so are clocks turned back.
            day = calendar.first(max(0, (stretch.end + stretch.offset) // DAY - 2))
            at = max(stretch.end, (day - 1) * DAY)

    def _within(self, stretch: Stretch, at: int, calendar: Calendar | EveryDay) -> Iterator[int]:
        first, end = at + stretch.offset, stretch.end + stretch.offset
        if self._fixed:
            turned = stretch.start + stretch.before
            if at == stretch.start and self._any(
                turned, first, calendar
            ):  # skipped times, made up for at once
                yield at
                first += 1
            first = max(first, turned)  # repeated times
        for wall in self._matches(first, end, calendar):
            yield wall - stretch.offset

    def _any(self, first: int, end: int, calendar: Calendar | EveryDay) -> bool:
        return next(self._matches(first, end, calendar), None) is not None

    def _matches(self, first: int, end: int, calendar: Calendar | EveryDay) -> Iterator[int]:
        """Yield the matching minutes of the wall clock, ``first <= minute < end``."""
        first, end = max(first, 0), min(end, END)
        day = calendar.first(first // DAY)
        while (midnight := day * DAY) < end:
            for index in range(bisect_left(self._minutes, first - midnight), len(self._minutes)):
                minute = midnight + self._minutes[index]
                if minute >= end:
                    return
                yield minute
            day = calendar.first(day + 1)
