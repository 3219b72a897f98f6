"""Intervals: ``every 90m`` from a schedule's start on, whatever clocks on walls do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from attrs import frozen

from .durations import duration
from .errors import InvalidInput
from .limits import LATEST
from .units import SHORT, counted
from .values import check_moment
from .wall_clock import elapsed

SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=366)
_WORD = "every"


@frozen
class Interval:
    """Fires at ``starts_at + k · length`` for k = 0, 1, 2 …"""

    expression: str
    length: timedelta
    starts_at: datetime

    def times(self, after: datetime) -> Iterator[datetime]:
        """Yield every fire time strictly after an aware moment, ascending, in UTC, up to the calendar's end.

        Raises InvalidInput for a naive moment.
        """
        first = max(0, (elapsed(after) - elapsed(self.starts_at)) // self.length + 1)
        last = (LATEST - self.starts_at) // self.length
        return (self.starts_at + k * self.length for k in range(first, last + 1))

    def run(self, first: datetime, end: datetime) -> tuple[int, datetime]:
        """Return how many fire times there are from one of them to a moment, and the last: there may be millions."""
        steps = (end - first) // self.length
        return steps + 1, first + steps * self.length

    def words(self) -> str:
        """Return one English sentence."""
        return f"Every {_spelled(self.length)}, counted from {self.starts_at:%Y-%m-%d %H:%M:%S} UTC"


def is_interval(text: str) -> bool:
    """Whether text is meant as an interval, well written or not."""
    return text.partition(" ")[0].lower() == _WORD


def interval(text: str, starts_at: datetime | None) -> Interval:
    """Return the interval of text such as ``every 90m``.

    Raises InvalidInput for other durations than 1 s to 366 days, and for a start that is missing or naive.
    """
    written = text.lower().removeprefix(_WORD).strip()
    try:
        length = duration("cron", written)
    except InvalidInput as error:
        raise InvalidInput(
            "cron", "must be `every` and a duration, such as `every 90m` or `every 1h30m`"
        ) from error
    if not SHORTEST <= length <= LONGEST:
        raise InvalidInput("cron", "must be `every` and a duration from 1s to 366d")
    if starts_at is None:
        raise InvalidInput("cron", "is counted from the schedule's start: write starts_at beside it")
    start = check_moment("starts_at", starts_at).astimezone(UTC)
    return Interval(f"{_WORD} {_written(length)}", length, start)


def _written(length: timedelta) -> str:
    """Return the length as it is stored: the same text for lengths that are the same, however they were written."""
    count, unit = counted(length)
    return f"{count}{SHORT[unit]}" if unit in SHORT else f"{count / 1_000:.3f}ms"


def _spelled(length: timedelta) -> str:
    """Return the length in words."""
    count, unit = counted(length)
    return unit if count == 1 else f"{count} {unit}s"
