"""The grammar of cron expressions: five fields or an alias in, sets of numbers out."""

import re

from attrs import frozen

from .cron_items import DAY_OF_MONTH, HOUR, MINUTE, MONTH, WEEKDAY, FieldKind, number, numbers, refuse, whole
from .errors import InvalidInput

_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_SAME = {"@annually": "@yearly", "@midnight": "@daily"}
_FIVE = "must have five fields: minute, hour, day-of-month, month, weekday"
_LEADING_ZEROS = re.compile("(?<![0-9])0+(?=[0-9])")
_LAST = frozenset({"L", "l"})
_NTH = re.compile(r"[0-9A-Za-z]+#[0-9]+")
_WEEKS = 5


@frozen
class Fields:
    """What a cron expression names: numbers of each field, Sunday being 0."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    last_day: bool
    months: frozenset[int]
    weekdays: frozenset[int]
    nth_weekdays: frozenset[tuple[int, int]]
    """Pairs (weekday, n): the n-th such weekday of a month."""
    either_day: bool
    """Whether a day that fits one of the two day fields is enough."""
    real_time: bool
    """Whether the minute or the hour field starts with ``*``."""

    def minutes_of_day(self) -> list[int]:
        """Return the times of day, in minutes since midnight, ascending."""
        return [hour * 60 + minute for hour in sorted(self.hours) for minute in sorted(self.minutes)]


def canonical(text: str) -> str:
    """Return the text of an expression as it is stored: numbers without leading zeros, names in capitals."""
    text = spaced(text)
    return text if text.startswith("@") else _LEADING_ZEROS.sub("", text.upper())


def spaced(text: str) -> str:
    """Return the text of an expression with one space between fields, aliases by their usual names."""
    text = " ".join(text.split())
    if not text.startswith("@"):
        return text
    alias = text.lower()
    return _SAME.get(alias, alias)


def read_fields(text: str) -> Fields:
    """Return what a spaced expression names; raises InvalidInput, saying what to write instead."""
    texts = _expanded(text).split(" ")
    if len(texts) != 5:
        raise InvalidInput("cron", _FIVE + _WRONG_COUNT.get(len(texts), ""))
    minutes, hours, days, months, weekdays = (part.split(",") for part in texts)
    nth = {item: _nth_weekday(item) for item in weekdays if _NTH.fullmatch(item)}
    return Fields(
        minutes=_union(MINUTE, minutes),
        hours=_union(HOUR, hours),
        days=_union(DAY_OF_MONTH, [item for item in days if item not in _LAST]),
        last_day=not _LAST.isdisjoint(days),
        months=_union(MONTH, months),
        weekdays=_union(WEEKDAY, [item for item in weekdays if item not in nth]),
        nth_weekdays=frozenset(nth.values()),
        either_day=not (_starred(days) or _starred(weekdays)),
        real_time=_starred(minutes) or _starred(hours),
    )


def _starred(items: list[str]) -> bool:
    return items[0].startswith("*")


_WRONG_COUNT = {6: "; seconds are not a field", 7: "; seconds and years are not fields"}


def _expanded(text: str) -> str:
    if not text.startswith("@"):
        return text
    if text in _ALIASES:
        return _ALIASES[text]
    word, _, rest = text.partition(" ")
    if word == "@reboot":
        raise InvalidInput(
            "cron", "`@reboot` names no time: let the machine start such work, or write a time"
        )
    if word == "@every":
        raise InvalidInput("cron", f"must not start with @every: write `every {rest[:20] or '90m'}`")
    raise InvalidInput("cron", f"must be five fields or one of {', '.join(_ALIASES)}")


def _union(kind: FieldKind, items: list[str]) -> frozenset[int]:
    return frozenset[int]().union(*(numbers(kind, item) for item in items))


def _nth_weekday(item: str) -> tuple[int, int]:
    day, _, count = item.partition("#")
    weekday = number(WEEKDAY, item, day)
    if not 1 <= whole(count) <= _WEEKS:
        refuse(
            WEEKDAY, item, f"a month has at most {_WEEKS} of a weekday: write `{day}#1` to `{day}#{_WEEKS}`"
        )
    return weekday % 7, whole(count)
