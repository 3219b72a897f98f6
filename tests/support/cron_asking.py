"""The product's fire times as plain lists, for comparing."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice, takewhile
from sys import setprofile
from types import FrameType

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import recurrence
from fencepost.domain.zones import zone


def fire_times(expression: str, tz: str, after: datetime, count: int, dst: str = "vixie") -> list[datetime]:
    """The first ``count`` fire times, aware UTC, strictly after an aware moment."""
    return list(islice(recurrence(expression, tz, dst).times(after), count))


def fire_times_until(
    expression: str, tz: str, after: datetime, until: datetime, dst: str = "vixie"
) -> list[datetime]:
    """The fire times after one aware moment and not after another."""
    return list(takewhile(lambda at: at <= until, recurrence(expression, tz, dst).times(after)))


def local(tz: str, text: str) -> datetime:
    """An ISO time on the wall of a zone, first pass, unless it says its offset itself; aware UTC."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone("tz", tz))).astimezone(UTC)


def refusal(expression: object, tz: object = "UTC", dst: object = "vixie") -> InvalidInput:
    """The error that a recurrence is refused with; the test fails when it is taken."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(expression, tz, dst)
    return caught.value


def effort(call: Callable[[], object]) -> int:
    """How many functions, Python's own and built-in ones, are called meanwhile: work measured without a clock."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    setprofile(count)
    try:
        call()
    finally:
        setprofile(None)
    return calls
