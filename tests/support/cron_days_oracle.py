"""A second brute-force judge, which also knows ``L`` (a month's last day) and ``n#k`` (its k-th weekday n).

It shares no code with the first judge, the product or croniter, and it goes another way: fields are questions asked
about a value, never sets, and a clock change is seen by a high-water mark: the latest wall clock ever shown.
A schedule of fixed times serves each wall minute once, when the mark passes it: minutes that a gap swallows are passed
all at once, by the first real minute behind it; minutes shown again are passed already.
"""

import calendar
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

STEP = timedelta(minutes=1)
RUN_UP = timedelta(days=2)
"""Walked before the first answer, for the mark to be where it belongs."""
TERM = re.compile(
    r"(?:(?P<star>\*)|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>\d+))?|(?P<nth>\w+)#(?P<k>[1-5])",
    re.ASCII,
)
FIRSTS = {"minute": 0, "hour": 0, "day": 1, "month": 1, "weekday": 0}
LASTS = {"minute": 59, "hour": 23, "day": 31, "month": 12, "weekday": 6}
WORDS = {
    "month": ["", *["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
    "weekday": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
}


class DaysCron:
    """An expression as questions about minute, hour and date; ValueError for anything outside the grammar."""

    def __init__(self, expression: str) -> None:
        minute, hour, day, month, weekday = expression.split()
        self.minutes = {value for value in range(60) if _matches("minute", minute, value)}
        self.hours = {value for value in range(24) if _matches("hour", hour, value)}
        self.fixed = "*" not in (minute[0], hour[0])
        self._month, self._weekday, self._day = month, weekday, day
        self._either = "*" not in (day[0], weekday[0])
        self._known: dict[date, bool] = {}

    def day(self, day: date) -> bool:
        """Whether the expression allows this date."""
        day = date(day.year, day.month, day.day)
        if day not in self._known:
            self._known[day] = self._allows(day)
        return self._known[day]

    def wall(self, clock: datetime) -> bool:
        """Whether the expression matches what a clock on the wall shows."""
        return clock.minute in self.minutes and clock.hour in self.hours and self.day(clock)

    def _allows(self, day: date) -> bool:
        by_date = any(_on_date(text, day) for text in self._day.split(","))
        by_weekday = any(_on_weekday(text, day) for text in self._weekday.split(","))
        wanted = any if self._either else all
        return _matches("month", self._month, day.month) and wanted((by_date, by_weekday))


def fires_by_mark(
    expression: str, zone: ZoneInfo, after: datetime, until: datetime, policy: str = "vixie"
) -> Iterator[datetime]:
    """Every fire time later than ``after`` and no later than ``until`` (all aware UTC), in order."""
    cron = DaysCron(expression)
    minute = (after - RUN_UP).replace(second=0, microsecond=0)
    mark = _shown(zone, minute)
    while minute < until:
        minute += STEP
        clock = _shown(zone, minute)
        due = cron.wall(clock)
        if policy == "vixie" and cron.fixed:
            due = any(cron.wall(passed) for passed in _between(mark, clock))
        mark = max(mark, clock)
        if due and after < minute <= until:
            yield minute


def _shown(zone: ZoneInfo, minute: datetime) -> datetime:
    return minute.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0)


def _between(mark: datetime, clock: datetime) -> Iterator[datetime]:
    """Every wall minute behind the mark, the one shown now included."""
    while mark < clock:
        mark += STEP
        yield mark


def _on_date(text: str, day: date) -> bool:
    if text == "L":
        return day.day == calendar.monthrange(day.year, day.month)[1]
    return _term("day", text, day.day)


def _on_weekday(text: str, day: date) -> bool:
    """Sunday answers to 0 and to 7."""
    numbers = {day.isoweekday(), day.isoweekday() % 7}
    term = _read(text)
    if term["nth"] is None:
        return any(_term("weekday", text, number) for number in numbers)
    same_so_far = [d for d in range(1, day.day + 1) if day.replace(day=d).weekday() == day.weekday()]
    return _value("weekday", term["nth"]) in numbers and len(same_so_far) == int(term["k"])


def _matches(kind: str, field: str, value: int) -> bool:
    """Whether one of the field's terms allows a value."""
    return any(_term(kind, text, value) for text in field.split(","))


def _term(kind: str, text: str, value: int) -> bool:
    term = _read(text)
    if term["nth"] is not None:
        raise ValueError(f"{text} has no place in the {kind} field")
    if term["star"] is not None:
        low, high = FIRSTS[kind], LASTS[kind]
    else:
        low = _value(kind, term["low"])
        high = LASTS[kind] if term["step"] else low
        high = _value(kind, term["high"]) if term["high"] else high
    return low <= value <= high and (value - low) % int(term["step"] or 1) == 0


def _read(text: str) -> dict[str, Any]:
    """A term's parts; the ones it does not have are None."""
    found = TERM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is no term")
    return found.groupdict()


def _value(kind: str, text: str) -> int:
    words = WORDS.get(kind, [])
    number = words.index(text.lower()) if text.lower() in words else int(text)
    if not FIRSTS[kind] <= number <= (7 if kind == "weekday" else LASTS[kind]):
        raise ValueError(f"{text} is out of the {kind} field's range")
    return number
