"""The wall clock of a zone against UTC, both in whole minutes since 0001-01-01T00:00.

A zone's offset is constant for a stretch of time, then its clock is turned. Offsets of odd seconds are rounded down:
each minute of UTC then shows the very minute that a clock on the wall shows.
"""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

from attrs import frozen

from .errors import InvalidInput
from .limits import LATEST

_MINUTE = timedelta(minutes=1)
_ZERO = datetime.min.replace(tzinfo=UTC)
DAY = 24 * 60
END = (LATEST - _ZERO) // _MINUTE + 1
"""The calendar's minutes are 0 up to this one, exclusive."""
_PROBE = 3 * DAY
"""Changes are looked for in steps of this length: no zone was or will be turned twice within twice as long."""
_PROBES = 10
_LOOKBACK = 2 * DAY
"""Longer than any fold, shorter than any stretch."""


class Dst(StrEnum):
    """What becomes of wall-clock times that a turned clock skips or repeats."""

    VIXIE = "vixie"
    WALL = "wall"


@frozen
class Stretch:
    """The minutes ``start <= minute < end`` of UTC, all at ``offset``; ``before`` is the offset until ``start``.

    A stretch may be cut where no clock is turned: ``before`` equals ``offset`` then.
    """

    start: int
    end: int
    offset: int
    before: int


def stretch_at(zone: ZoneInfo, minute: int) -> Stretch:
    """Return a stretch that ``minute`` lies in: its true start if less than two days back, and its end if near."""
    midnight = _stretch_at(zone, minute - minute % DAY)
    return midnight if minute < midnight.end else _stretch_at(zone, minute)


@lru_cache(maxsize=1024)
def _stretch_at(zone: ZoneInfo, minute: int) -> Stretch:
    """Look for changes of the offset around a minute: once a day, as all schedules of a zone ask for the same."""
    offset = _offset(zone, minute)
    start = minute - _LOOKBACK
    before = _offset(zone, start)
    if before != offset:
        start = _change(zone, start, minute)
    end = minute
    for _ in range(_PROBES):
        earlier, end = end, min(end + _PROBE, END)
        if _offset(zone, end) != offset:
            end = _change(zone, earlier, end)
            break
    return Stretch(start, end, offset, before)


def elapsed(moment: datetime) -> timedelta:
    """Return the time from 0001-01-01T00:00 UTC to an aware moment, negative before it.

    Raises InvalidInput for a naive moment. Never overflows, unlike a conversion to UTC.
    """
    offset = moment.utcoffset()
    if offset is None:
        raise InvalidInput("after", "must be a date and time with an offset")
    return moment.replace(tzinfo=UTC) - _ZERO - offset


def minute_after(moment: datetime) -> int:
    """Return the first whole minute of the calendar strictly after an aware moment."""
    return max(0, elapsed(moment) // _MINUTE + 1)


def minute_of_year(year: int) -> int:
    """Return the first minute of a year of the calendar, in UTC."""
    return (datetime(year, 1, 1, tzinfo=UTC) - _ZERO) // _MINUTE


def at_minute(minute: int) -> datetime:
    """Return a minute of the calendar as a moment in UTC."""
    return _ZERO + timedelta(minutes=minute)


def _offset(zone: ZoneInfo, minute: int) -> int:
    """Return the offset in minutes; the calendar's first and last day borrow it, as local times would overflow."""
    local = at_minute(min(max(minute, DAY), END - DAY - 1)).astimezone(zone)
    offset = local.utcoffset()
    assert offset is not None
    return offset // _MINUTE


def _change(zone: ZoneInfo, earlier: int, later: int) -> int:
    """Return the first minute after ``earlier``, no later than ``later``, whose offset is another one."""
    offset = _offset(zone, earlier)
    between = range(earlier + 1, later)
    return between.start + bisect_left(between, True, key=lambda minute: _offset(zone, minute) != offset)
