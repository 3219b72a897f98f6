"""Stretches of real time whose wall clocks are read once, minute by minute, and asked about many expressions.

A set of minutes is a number whose bit i stands for the window's minute i. That is all the cleverness there is: nothing
is jumped over, and no rule of a time zone is known here but what its clock shows.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from importlib.resources import files
from operator import or_
from typing import Protocol
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
STRIDE = timedelta(hours=12)
"""No two changes of one zone's clock lie closer together."""
DAY = timedelta(days=1)


class Judge(Protocol):
    """What both judges make of an expression."""

    @property
    def minutes(self) -> AbstractSet[int]:
        """The minutes that the first field allows."""

    @property
    def hours(self) -> AbstractSet[int]:
        """The hours that the second field allows."""

    @property
    def fixed(self) -> bool:
        """Whether neither of both begins with a star."""

    def day(self, day: date, /) -> bool:
        """Whether the expression allows this date."""

    def wall(self, clock: datetime, /) -> bool:
        """Whether the expression matches what a clock on the wall shows."""


class Window:
    """Every real minute from ``start`` to ``end`` (aware UTC, both included), with what the zone's clock shows."""

    def __init__(self, zone: ZoneInfo, start: datetime, end: datetime) -> None:
        self.minutes = [start + i * MINUTE for i in range((end - start) // MINUTE + 1)]
        self._minute, self._hour = [0] * 60, [0] * 24
        self._date: dict[date, int] = {}
        self._again = 0
        self._gaps: list[tuple[int, list[datetime]]] = []
        before = (start - MINUTE).astimezone(zone).replace(tzinfo=None)
        for i, minute in enumerate(self.minutes):
            local = minute.astimezone(zone)
            clock = local.replace(tzinfo=None, fold=0)
            self._place(1 << i, clock, local.fold)
            skipped = (clock - before) // MINUTE - 1
            if skipped > 0:
                self._gaps.append((1 << i, [before + (k + 1) * MINUTE for k in range(skipped)]))
            before = clock

    def fires(self, judge: Judge, policy: str) -> list[datetime]:
        """The fire times in the window under the policy ``vixie`` or ``wall``."""
        dates = _union(bits for day, bits in self._date.items() if judge.day(day))
        minutes = _union(self._minute[value] for value in judge.minutes)
        found = dates and dates & minutes & _union(self._hour[value] for value in judge.hours)
        if policy == "vixie" and judge.fixed:
            found &= ~self._again
            for bit, skipped in self._gaps:
                found |= bit if any(judge.wall(clock) for clock in skipped) else 0
        return [self.minutes[one.start()] for one in re.finditer("1", f"{found:b}"[::-1])]

    def _place(self, bit: int, clock: datetime, fold: int) -> None:
        self._minute[clock.minute] |= bit
        self._hour[clock.hour] |= bit
        self._date[clock.date()] = self._date.get(clock.date(), 0) | bit
        self._again |= bit * fold


def zone_names() -> list[str]:
    """Every zone of the pinned tz database."""
    return (files("tzdata") / "zones").read_text(encoding="utf-8").split()


def changes(zone: ZoneInfo, first: datetime, last: datetime) -> list[datetime]:
    """The first real minute after each change of the zone's clock between two moments (aware UTC), in order."""
    found = []
    while first < last:
        later = first + STRIDE
        if _offset(zone, first) != _offset(zone, later):
            found.append(_narrow(zone, first, later))
        first = later
    return found


def days_around(zone: ZoneInfo, change: datetime) -> tuple[datetime, datetime]:
    """First and last real minute of the local day before a change, the day of the change and the day after."""
    offset = _offset(zone, change - MINUTE)
    midnight = (change + offset).replace(hour=0, minute=0, second=0) - offset
    return midnight - DAY, midnight + 2 * DAY


def _union(sets: Iterator[int]) -> int:
    return reduce(or_, sets, 0)


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def _narrow(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    old = _offset(zone, before)
    while after - before > MINUTE:
        middle = before + (after - before) // MINUTE // 2 * MINUTE
        before, after = (middle, after) if _offset(zone, middle) == old else (before, middle)
    return after.astimezone(UTC)
