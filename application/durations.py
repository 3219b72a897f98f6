"""Durations as people write them: ``30s``, ``5m``, ``1h30m``, ``2d``, ``250ms``, a number of seconds, a timedelta."""

import math
import re
from datetime import timedelta

from ..domain.errors import InvalidInput
from ..domain.values import check_duration

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")


def duration(field: str, value: object) -> timedelta:
    """Return a duration between 0 and 100 years; raises InvalidInput naming ``field``."""
    if isinstance(value, timedelta):
        return check_duration(field, value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InvalidInput(field, "must be a duration such as 30s, 5m or 1h30m")
    return check_duration(field, _from_seconds(field, _seconds(field, value)))


def _seconds(field: str, value: int | float | str) -> float:
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InvalidInput(field, "must be a duration such as 30s, 5m or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _from_seconds(field: str, seconds: float) -> timedelta:
    try:
        if math.isfinite(seconds):
            return timedelta(seconds=seconds)
    except OverflowError:
        pass
    raise InvalidInput(field, "must be a duration of at most 100 years")
