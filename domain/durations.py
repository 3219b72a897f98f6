"""Durations as people write them: ``30s``, ``5m``, ``1h30m``, ``2d``, ``250ms``, a number of seconds, a timedelta.

Text needs a unit: ``"5"`` could be meant as anything. Units go from large to small, each at most once.
"""

import re
from datetime import timedelta
from typing import TypeAlias

from .errors import InvalidInput
from .values import check_duration

Duration: TypeAlias = timedelta | float | str
"""A timedelta, seconds, or text such as ``30s`` or ``1h30m``."""

_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_TEXT = re.compile("".join(rf"(?:([0-9]+(?:\.[0-9]+)?){unit})?" for unit in _UNITS))
_LONGEST_TEXT = 100
_RULE = "must be a duration such as 30s, 5m or 1h30m"
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*", re.ASCII)
_WORDS = {unit: unit for unit in _UNITS} | {
    "millisecond": "ms",
    "msec": "ms",
    "second": "s",
    "sec": "s",
    "minute": "m",
    "min": "m",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "week": "w",
}
"""What people write for units, and the units."""
_INEXACT = frozenset({"y", "yr", "year", "mo", "mon", "month"})
"""Words for what is no duration: years and months are not all as long."""


def duration(field: str, value: object) -> timedelta:
    """Return a duration between 0 and 100 years; raises InvalidInput naming ``field``."""
    if isinstance(value, timedelta):
        return check_duration(field, value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InvalidInput(field, _RULE)
    return check_duration(field, _from_seconds(field, _seconds(field, value)))


def _seconds(field: str, value: float | str) -> float:
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    found = _TEXT.fullmatch(text[: _LONGEST_TEXT + 1])
    if not text or len(text) > _LONGEST_TEXT or found is None:
        raise InvalidInput(field, _RULE + _advice(text[:_LONGEST_TEXT]))
    parts = zip(found.groups(), _UNITS.values(), strict=True)
    return sum(float(number) * unit for number, unit in parts if number is not None)


def _from_seconds(field: str, seconds: float) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except (OverflowError, ValueError) as error:  # infinite or too large, not a number
        raise InvalidInput(field, "must be a duration of at most 100 years") from error


def _advice(text: str) -> str:
    """Return what to write instead of a text that is no duration, as far as it can be guessed."""
    if text.startswith("-"):
        return f", not negative: {text!r}"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text, re.ASCII):
        return f", with a unit: {text}s or {text}m"
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text):
        return ""
    words = [word.removesuffix("s") if len(word) > 2 else word for _, word in parts]
    if _INEXACT.intersection(words):
        return ": years and months differ in length, write days such as 365d or 30d"
    units = [_WORDS.get(word, "") for word in words]
    if "" in units:
        return f": the units are {', '.join(_UNITS)}"
    written = dict(zip(units, (number for number, _ in parts), strict=True))
    if len(written) < len(units):
        return ": each unit once"
    return ": write " + "".join(f"{written[unit]}{unit}" for unit in _UNITS if unit in written)
