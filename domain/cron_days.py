"""Which days a cron expression names: the search in the calendar, on croniter.

Days are counted from 0001-01-01, which is 0. croniter is given plain lists, dates without a zone, and one condition at
a time: a union of conditions is made here.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from datetime import date

from croniter import croniter  # type: ignore[import-untyped]  # it ships no types

from .cron_fields import Fields

DAYS = date.max.toordinal()
"""The calendar's days are 0 up to this one, exclusive."""
_EPOCH = date(1970, 1, 1).toordinal() - 1
_FAMILIAR = date(2000, 1, 1).toordinal() - 1
_SECONDS = 24 * 60 * 60
_RAREST = 41
"""Years: the longest wait is that for a 29 February on a given weekday across the end of a century."""


class Calendar:
    """The days that fields name, looked for from any day on."""

    def __init__(self, searches: list[croniter]) -> None:
        """Start from what ``calendar`` prepared; each copy may search by itself."""
        self._searches = [_Search(search) for search in searches]

    def first(self, day: int) -> int:
        """Return the first named day that is not before ``day``; ``DAYS`` or more when there is none."""
        return min(search.first(day) for search in self._searches)


class EveryDay:
    """The same for fields that name all days: there is nothing to look for."""

    def first(self, day: int) -> int:
        """Return the day itself."""
        return day


class _Search:
    """One condition; the last answer is kept, as a union asks each condition again and again."""

    def __init__(self, search: croniter) -> None:
        self._search = copy(search)
        self._asked = 0
        self._found = -1

    def first(self, day: int) -> int:
        if not self._asked <= day <= self._found:
            self._asked, self._found = day, _first(self._search, day)
        return self._found


def searches(fields: Fields) -> list[croniter]:
    """Return one search for each condition that ever comes true, none if all dates are like 30 February."""
    found = (
        croniter(text, 0.0, day_or=False, max_years_between_matches=_RAREST) for text in _conditions(fields)
    )
    return [search for search in found if _first(search, _FAMILIAR) < DAYS]


def every_day(fields: Fields) -> bool:
    """Whether fields name all days there are."""
    days, weekdays = len(fields.days) == 31, len(fields.weekdays) == 7
    return len(fields.months) == 12 and (days or weekdays if fields.either_day else days and weekdays)


def _first(search: croniter, day: int) -> int:
    """Find 00:01 of a day after its 00:00, so that the day itself counts."""
    try:
        moment = search.get_next(float, start_time=float((day - _EPOCH) * _SECONDS))
    except (ValueError, OverflowError):  # no such date, or the calendar's end
        return DAYS
    return _EPOCH + int(moment // _SECONDS)


def _conditions(fields: Fields) -> Iterator[str]:
    """Yield expressions whose days, taken together, are the days that the fields name."""
    days = _all_or_listed([*sorted(fields.days), *("l" * fields.last_day)], 31)
    months = _all_or_listed([*sorted(fields.months)], 12)
    # Never a star for weekdays: croniter takes any 31 days for all of them then.
    plain = _listed(sorted(fields.weekdays))
    nth = _listed(f"{weekday}#{n}" for weekday, n in sorted(fields.nth_weekdays))
    for weekdays in filter(None, (plain, nth)):
        yield f"1 0 {'*' if fields.either_day else days} {months} {weekdays}"
    if fields.either_day:
        yield f"1 0 {days} {months} 0,1,2,3,4,5,6"


def _listed(values: Iterable[int | str]) -> str:
    return ",".join(map(str, values))


def _all_or_listed(values: list[int | str], size: int) -> str:
    return "*" if values == list(range(1, size + 1)) else _listed(values)
