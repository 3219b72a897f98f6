"""Durations in the largest unit that they are a whole number of."""

from datetime import timedelta

SHORT = {"day": "d", "hour": "h", "minute": "m", "second": "s", "millisecond": "ms"}
"""What units are called where durations are written down; microseconds are not."""
_UNITS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}


def counted(duration: timedelta) -> tuple[int, str]:
    """Return how many there are of that unit, and its name."""
    count, unit = next((duration // size, unit) for unit, size in _UNITS.items() if not duration % size)
    return count, unit
