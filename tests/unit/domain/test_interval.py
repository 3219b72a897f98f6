"""Intervals, counted from a schedule's start."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import Any

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import Recurrence, recurrence
from fencepost.domain.zones import zone

START = datetime(2025, 1, 1, 0, 7, 30, tzinfo=UTC)


def every(length: str, start: datetime = START) -> Recurrence:
    """An interval from a start on."""
    return recurrence(f"every {length}", starts_at=start)


def after(start: datetime, **later: float) -> datetime:
    """A moment some time after a start."""
    return start + timedelta(**later)


@pytest.mark.parametrize(
    ("later", "first"),
    [
        (timedelta(days=-9000), 0),
        (timedelta(microseconds=-1), 0),
        (timedelta(0), 1),
        (timedelta(minutes=89, seconds=59), 1),
        (timedelta(minutes=90), 2),
        (timedelta(days=1), 17),
    ],
)
def test_an_interval_is_counted_from_its_start(later: timedelta, first: int) -> None:
    """The start is its first time; every other one is a whole number of intervals later."""
    found = list(islice(every("90m").times(START + later), 3))
    assert found == [after(START, minutes=90 * (first + k)) for k in range(3)]


def test_an_interval_does_not_depend_on_when_it_was_asked_for() -> None:
    """From each time on the next is the same as in one go."""
    whole = list(islice(every("37m").times(START), 50))
    assert [next(every("37m").times(earlier)) for earlier in whole[:-1]] == whole[1:]


def test_clocks_that_are_turned_do_not_touch_an_interval() -> None:
    """A day is 24 hours, whatever the zone."""
    start = datetime(2025, 3, 29, 12, tzinfo=zone("tz", "Europe/Oslo"))
    found = next(recurrence("every 1d", "Europe/Oslo", "wall", starts_at=start).times(start))
    assert found == datetime(2025, 3, 30, 11, tzinfo=UTC)
    assert found.tzinfo is UTC


def test_a_start_keeps_its_fraction_of_a_second() -> None:
    """Only cron expressions live on whole minutes."""
    start = START.replace(microsecond=123_456)
    assert next(every("1s", start).times(start)) == after(start, seconds=1)


@pytest.mark.parametrize("text", ["every 90m", "EVERY 90M", "  every   90m ", "Every 90m"])
def test_an_interval_is_stored_in_one_way(text: str) -> None:
    """Lower case, one space."""
    assert recurrence(text, starts_at=START).expression == "every 90m"


@pytest.mark.parametrize(
    ("length", "stored"),
    [
        ("1h30m", "90m"),
        ("5400s", "90m"),
        ("090m", "90m"),
        ("1.50h", "90m"),
        ("60m", "1h"),
        ("24h", "1d"),
        ("2w", "14d"),
        ("1500ms", "1500ms"),
        ("1000.5ms", "1000.500ms"),
        ("366d", "366d"),
    ],
)
def test_a_length_is_stored_in_one_way(length: str, stored: str) -> None:
    """In the largest unit that fits; what is stored is read as the same length and stays as it is."""
    first, again = (recurrence(f"every {text}", starts_at=START) for text in (length, stored))
    assert first == again
    assert first.expression == f"every {stored}"


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ("1s", "Every second"),
        ("30s", "Every 30 seconds"),
        ("1500ms", "Every 1500 milliseconds"),
        ("60s", "Every minute"),
        ("90m", "Every 90 minutes"),
        ("1h30m", "Every 90 minutes"),
        ("2h", "Every 2 hours"),
        ("1d", "Every day"),
        ("36h", "Every 36 hours"),
        ("2w", "Every 14 days"),
        ("366d", "Every 366 days"),
    ],
)
def test_an_interval_is_one_sentence(length: str, words: str) -> None:
    """In the largest unit that fits, with the start in UTC."""
    assert every(length).words() == f"{words}, counted from 2025-01-01 00:07:30 UTC"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every", "such as `every 90m`"),
        ("every ", "such as `every 90m`"),
        ("every 5", "such as `every 90m`"),
        ("every 1h 30m", "or `every 1h30m`"),
        ("every minute", "such as `every 90m`"),
        ("every -5m", "such as `every 90m`"),
        ("every 5 m", "such as `every 90m`"),
        (f"every {'9' * 200}d", "such as `every 90m`"),
        (f"every {'9' * 50}d", "such as `every 90m`"),
        ("every 0s", "from 1s to 366d"),
        ("every 999ms", "from 1s to 366d"),
        ("every 366d1s", "from 1s to 366d"),
        ("every90m", "five fields"),
    ],
)
def test_what_is_no_interval_says_what_to_write(text: str, words: str) -> None:
    """The field is cron."""
    with pytest.raises(InvalidInput) as caught:
        recurrence(text, starts_at=START)
    assert caught.value.field == "cron"
    assert words in caught.value.rule


def test_an_interval_without_a_start_is_refused() -> None:
    """There would be nothing to count from."""
    with pytest.raises(InvalidInput, match="cron: is counted from the schedule's start: write starts_at"):
        recurrence("every 90m")


@pytest.mark.parametrize("start", [datetime(2025, 1, 1), datetime(1969, 1, 1, tzinfo=UTC), "2025-01-01"])  # noqa: DTZ001
def test_a_start_is_a_moment(start: Any) -> None:
    """With an offset, and within the years that are stored."""
    with pytest.raises(InvalidInput) as caught:
        recurrence("every 90m", starts_at=start)
    assert caught.value.field == "starts_at"


def test_the_calendars_ends_end_an_interval() -> None:
    """Nothing is raised at either of them."""
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert list(every("25m", last).times(last)) == [after(last, minutes=25), after(last, minutes=50)]
    assert list(every("25m").times(datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))))) == []
    assert next(every("25m").times(datetime.min.replace(tzinfo=timezone(timedelta(hours=14))))) == START


def test_a_naive_moment_is_refused() -> None:
    """At once, not when the first time is taken."""
    with pytest.raises(InvalidInput, match="after"):
        every("90m").times(datetime(2025, 1, 1))  # noqa: DTZ001  # naive on purpose
