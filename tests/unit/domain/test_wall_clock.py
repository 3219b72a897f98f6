"""Stretches of constant offset, and minutes of the calendar."""

import struct
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from itertools import pairwise

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.wall_clock import (
    DAY,
    END,
    Stretch,
    at_minute,
    elapsed,
    minute_after,
    minute_of_year,
    stretch_at,
)
from fencepost.domain.zones import names, zone


def minute(text: str) -> int:
    """A moment in UTC as a minute of the calendar."""
    return minute_after(datetime.fromisoformat(text).replace(tzinfo=UTC)) - 1


def turned(name: str, year: int) -> list[tuple[str, int, int]]:
    """When a zone's clock is turned in a year: the moment in UTC, and the offsets before and after in minutes."""
    found = []
    at = minute_of_year(year)
    while at < minute_of_year(year + 1):
        stretch = stretch_at(zone("tz", name), at)
        if stretch.start == at:
            found.append((f"{at_minute(at):%m-%d %H:%M}", stretch.before, stretch.offset))
        at = stretch.end
    return found


@pytest.mark.parametrize(
    ("name", "year", "turns"),
    [
        ("UTC", 2025, []),
        ("Asia/Tokyo", 2025, []),
        ("America/New_York", 2025, [("03-09 07:00", -300, -240), ("11-02 06:00", -240, -300)]),
        ("Europe/Oslo", 2500, [("03-28 01:00", 60, 120), ("10-31 01:00", 120, 60)]),
        ("Australia/Lord_Howe", 2025, [("04-05 15:00", 660, 630), ("10-04 15:30", 630, 660)]),
        ("Pacific/Chatham", 2025, [("04-05 14:00", 825, 765), ("09-27 14:00", 765, 825)]),
        ("Antarctica/Troll", 2025, [("03-30 01:00", 0, 120), ("10-26 01:00", 120, 0)]),
        (
            "Pacific/Apia",
            2011,
            [("04-02 14:00", -600, -660), ("09-24 14:00", -660, -600), ("12-30 10:00", -600, 840)],
        ),
        ("Pacific/Kwajalein", 1969, [("09-30 13:00", 660, -720)]),
        ("Africa/Monrovia", 1972, [("01-07 00:45", -45, 0)]),
    ],
)
def test_every_turn_of_a_clock_is_found(name: str, year: int, turns: list[tuple[str, int, int]]) -> None:
    """By half an hour, by two, by a whole day; at odd seconds the first whole minute after it counts."""
    assert turned(name, year) == turns


def test_a_stretch_knows_its_start_for_two_days() -> None:
    """Long enough to tell that a wall-clock time was there before."""
    oslo = zone("tz", "Europe/Oslo")
    fold = minute("2025-10-26T01:00")
    for at in (fold, fold + 1, fold + 2 * DAY - 1):
        stretch = stretch_at(oslo, at)
        assert (stretch.start, stretch.before, stretch.offset) == (fold, 120, 60)
    later = stretch_at(oslo, fold + 3 * DAY)
    assert (later.before, later.offset) == (60, 60)


def test_a_stretch_ends_where_the_clock_is_turned_or_is_cut() -> None:
    """A cut leads on to a stretch that looks the same."""
    oslo = zone("tz", "Europe/Oslo")
    assert stretch_at(oslo, minute("2025-10-25T12:00")).end == minute("2025-10-26T01:00")
    cut = stretch_at(oslo, minute("2025-05-01T00:00"))
    assert cut == Stretch(cut.start, cut.end, 120, 120)
    assert stretch_at(oslo, cut.end).offset == 120


@pytest.mark.parametrize("name", ["UTC", "America/New_York", "Pacific/Kiritimati"])
def test_the_calendars_ends_are_no_trouble(name: str) -> None:
    """No local time before year 1 or after 9999 is asked for."""
    assert stretch_at(zone("tz", name), 0).start <= 0
    assert stretch_at(zone("tz", name), END - 1).end == END


def test_no_zone_is_turned_twice_within_six_days() -> None:
    """Else a probe every three days, or two days of looking back, might miss something."""
    shortest = min(later - earlier for name in names() for earlier, later in pairwise(transitions(name)))
    assert timedelta(seconds=shortest) > timedelta(days=6)


def transitions(name: str) -> list[int]:
    """The seconds since 1970 at which a zone's offset changes, read from its compiled file (RFC 9636, version 2)."""
    data = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    first = struct.unpack_from(">6l", data, 20)
    start = 44 + first[3] * 5 + first[4] * 6 + first[5] + first[2] * 8 + first[1] + first[0]
    count, types = struct.unpack_from(">2l", data, start + 32)
    times = struct.unpack_from(f">{count}q", data, start + 44)
    kinds = data[start + 44 + 8 * count : start + 44 + 9 * count]
    offsets = [struct.unpack_from(">l", data, start + 44 + 9 * count + 6 * kind)[0] for kind in range(types)]
    before = [0, *kinds]
    return [
        time for time, old, new in zip(times, before, kinds, strict=False) if offsets[old] != offsets[new]
    ]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2025-01-01T00:00:00+00:00", "2025-01-01T00:01:00+00:00"),
        ("2025-01-01T00:00:59.999999+00:00", "2025-01-01T00:01:00+00:00"),
        ("2025-01-01T00:00:00+05:45", "2024-12-31T18:16:00+00:00"),
        ("0001-01-01T00:00:00+00:00", "0001-01-01T00:01:00+00:00"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+00:00"),
    ],
)
def test_the_minute_after_a_moment_is_strictly_after_it(moment: str, expected: str) -> None:
    """And never before the calendar."""
    assert at_minute(minute_after(datetime.fromisoformat(moment))).isoformat() == expected


def test_the_minute_after_the_last_one_is_out_of_the_calendar() -> None:
    """Where nothing fires."""
    assert minute_after(datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC)) == END
    assert minute_after(datetime(9999, 12, 31, 23, 59, 30, tzinfo=timezone(timedelta(hours=-14)))) > END


def test_a_naive_moment_is_refused() -> None:
    """It could be meant in any zone."""
    with pytest.raises(InvalidInput, match="after: must be a date and time with an offset"):
        elapsed(datetime(2025, 1, 1))  # noqa: DTZ001  # naive on purpose
