"""Items of a cron field: one number, range or step at a time, and words for what is refused."""

import re
from typing import NoReturn

from attrs import field, frozen

from .errors import InvalidInput

_INTERVAL_MAX_MINUTES = 366 * 24 * 60
_SHOWN = 20
_WHOLE = re.compile("[0-9]{1,6}")


@frozen
class FieldKind:
    """One of the five fields: the numbers it takes, ``top`` being where ``*`` and steps end."""

    name: str
    low: int
    top: int
    high: int
    names: dict[str, int] = field(factory=dict)
    unit: str = ""
    """The unit of an interval that a larger step would be, empty where there is none."""

    @property
    def size(self) -> int:
        """How many values the field has."""
        return self.top - self.low + 1


def _named(first: int, names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


MINUTE = FieldKind("minute", 0, 59, 59, unit="m")
HOUR = FieldKind("hour", 0, 23, 23, unit="h")
DAY_OF_MONTH = FieldKind("day-of-month", 1, 31, 31, unit="d")
MONTH = FieldKind("month", 1, 12, 12, _named(1, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"))
WEEKDAY = FieldKind("weekday", 0, 6, 7, _named(0, "SUN MON TUE WED THU FRI SAT"), unit="d")
_MINUTES = {"m": 1, "h": 60, "d": 24 * 60}

_LAST = re.compile(r"(?<!JU)L")
_ELSEWHERE = (
    (re.compile(r"\?"), "`?` is not understood: write `*`"),
    (re.compile(r"~|^[HR](?![A-Z])"), "a time drawn by chance is nobody's plan: write the time itself"),
    (re.compile(r"W(?!ED)"), "the nearest working day cannot be said: write days, or `MON-FRI` as weekday"),
    (_LAST, "`L` is for day-of-month only and stands alone or in a list: write `0 0 L * *` or a day"),
    (re.compile("#"), "`#` is for weekdays only, one weekday at a time: write `MON#1,TUE#1`"),
)
"""What other programs understand, and what to write here; the field's own signs are taken out before."""


def refuse(kind: FieldKind, item: str, rule: str) -> NoReturn:
    """Raise InvalidInput that names the field and the item, cut short."""
    shown = item if len(item) <= _SHOWN else item[:_SHOWN] + "…"
    raise InvalidInput("cron", f"{kind.name} `{shown}`: {rule}")


def numbers(kind: FieldKind, item: str) -> set[int]:
    """Return what ``5``, ``a-b``, ``*``, ``*/n``, ``a-b/n`` or ``n/s`` stands for; raises InvalidInput otherwise.

    Names count as their numbers, Sunday as 0.
    """
    _check_elsewhere(kind, item)
    body, slash, digits = item.partition("/")
    step = _step(kind, item, body, digits) if slash else 1
    first, last = _bounds(kind, item, body, slash)
    if first > last:
        refuse(kind, item, _unwrapped(kind, first, last, step))
    found = set(range(first, last + 1, step))
    return {0 if kind is WEEKDAY and number == 7 else number for number in found}


def _check_elsewhere(kind: FieldKind, item: str) -> None:
    if kind is WEEKDAY and _LAST.search(item.upper()):
        refuse(
            kind, item, "the last such weekday of a month cannot be said: write `FRI#4` for the fourth Friday"
        )
    for pattern, rule in _ELSEWHERE:
        if pattern.search(item.upper()):
            refuse(kind, item, rule)


def whole(text: str) -> int:
    """Return a whole number of at most six digits, -1 for anything else: more of them are a mistake."""
    return int(text) if _WHOLE.fullmatch(text) else -1


def number(kind: FieldKind, item: str, text: str) -> int:
    """Return the number that digits or a name stand for; raises InvalidInput out of the field's bounds."""
    found = kind.names.get(text.upper(), whole(text))
    if not kind.low <= found <= kind.high:
        names = list(kind.names)
        named = f" or a name from {names[0]} to {names[-1]}" if names else ""
        refuse(kind, item, f"write a number from {kind.low} to {kind.high}{named}")
    return found


def _bounds(kind: FieldKind, item: str, body: str, slash: str) -> tuple[int, int]:
    if body == "*":
        return kind.low, kind.top
    start, dash, stop = body.partition("-")
    first = number(kind, item, start)
    if dash:
        return first, number(kind, item, stop)
    if not slash:
        return first, first
    if first > kind.top:
        refuse(kind, item, f"steps end at {kind.top}: write `0` for Sunday")
    return first, kind.top


def _step(kind: FieldKind, item: str, body: str, digits: str) -> int:
    step = whole(digits)
    if 1 <= step <= kind.size:
        return step
    minutes = step * _MINUTES.get(kind.unit, 0)
    if body == "*" and 0 < minutes <= _INTERVAL_MAX_MINUTES:
        refuse(kind, item, f"a step is at most {kind.size}: write `every {step}{kind.unit}`")
    refuse(kind, item, f"write a step from 1 to {kind.size}")


def _unwrapped(kind: FieldKind, first: int, last: int, step: int) -> str:
    parts = [range(first, kind.top + 1), range(kind.low, last + 1)]
    if step == 1:
        texts = [f"{part[0]}-{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts if part]
    else:
        texts = [str(value) for value in [*parts[0], *parts[1]][::step]]
    return f"a range goes upwards: write `{','.join(texts)}`"
