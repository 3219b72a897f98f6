"""How late decisions were, and are, for people."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ....domain.limits import DECISION_GRACE
from ....domain.schedule import CRON, Schedule
from ...records import Record

CURE = "does a `fencepost scheduler` run?"
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


def overdue(schedule: Schedule, now: datetime) -> str:
    """Return how long a schedule's next fire time has waited for its decision, nothing within the grace."""
    waited = timedelta(0) if schedule.next_fire_at is None else now - schedule.next_fire_at
    return span(waited) if waited >= DECISION_GRACE else ""


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
