"""How late decisions were, for people."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ....domain.schedule import CRON
from ...records import Record

_SECOND, _MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def with_lateness(row: Record) -> Record:
    """Return the same row of the ledger with how late its decision was."""
    return {**row, "late": lateness(row)}


def lateness(row: Mapping[str, Any]) -> str:
    """Return how much later than its fire time a decision of the clock was made; what somebody asks for is not late."""
    if row["origin"] != CRON:
        return ""
    return span(datetime.fromisoformat(row["decided_at"]) - datetime.fromisoformat(row["fire_at"]))


def span(duration: timedelta) -> str:
    """Return a duration in its largest unit and the next: ``350ms``, ``12s``, ``6h1m``."""
    if duration < _SECOND:
        return f"{duration // _MILLISECOND}ms"
    rest, parts = duration // _SECOND, list[str]()
    for unit, seconds in _UNITS.items():
        number, rest = divmod(rest, seconds)
        parts.append(f"{number}{unit}" if number else "")
    first = next(place for place, part in enumerate(parts) if part)
    return "".join(parts[first : first + 2])
