"""Fire times on the days when clocks are turned.

B001, B002, B005, B006, B007, B009, B011, B013, B015, B016, B017, B018, B019, B020, B021.
"""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from fencepost.domain.recurrence import recurrence
from fencepost.domain.zones import zone
from support.cron_asking import effort, fire_times, local

NEW_YORK = "America/New_York"
BERLIN = "Europe/Berlin"
CHATHAM = "Pacific/Chatham"
POLICIES = ("vixie", "wall")


def fires(expression: str, tz: str, after: str, count: int, dst: str = "vixie") -> list[str]:
    """The fire times on the zone's wall clock with its offset, without seconds."""
    found = fire_times(expression, tz, local(tz, after), count, dst)
    return [moment.astimezone(zone("tz", tz)).isoformat(timespec="minutes") for moment in found]


def one_by_one(expression: str, tz: str, after: str, count: int) -> list[str]:
    """The same, each computed from nothing but the one before it."""
    moment, found = local(tz, after), []
    for _ in range(count):
        [moment] = fire_times(expression, tz, moment, 1)
        found.append(moment.astimezone(zone("tz", tz)).isoformat(timespec="minutes"))
    return found


def test_a_daily_time_inside_a_gap_runs_once_at_its_end() -> None:
    """B001: under ``wall`` that day has none."""
    found = fire_times("30 2 * * *", NEW_YORK, local(NEW_YORK, "2025-03-08T00:00"), 3)
    assert [f"{moment:%m-%dT%H:%MZ}" for moment in found] == ["03-08T07:30Z", "03-09T07:00Z", "03-10T06:30Z"]
    assert fires("30 2 * * *", NEW_YORK, "2025-03-08T00:00", 3, "wall") == [
        "2025-03-08T02:30-05:00",
        "2025-03-10T02:30-04:00",
        "2025-03-11T02:30-04:00",
    ]


def test_a_daily_time_inside_a_fold_runs_once_at_its_first_pass() -> None:
    """B002: not once for each copy of the hour."""
    assert fires("0 2 * * *", BERLIN, "2025-10-25T00:00", 4) == [
        "2025-10-25T02:00+02:00",
        "2025-10-26T02:00+02:00",
        "2025-10-27T02:00+01:00",
        "2025-10-28T02:00+01:00",
    ]


@pytest.mark.parametrize("dst", POLICIES)
def test_every_second_hour_gets_no_extra_run_at_a_gap(dst: str) -> None:
    """B005: nothing at 03:00, which only stands in for 02:00."""
    assert fires("0 */2 * * *", NEW_YORK, "2025-03-08T22:30", 4, dst) == [
        "2025-03-09T00:00-05:00",
        "2025-03-09T04:00-04:00",
        "2025-03-09T06:00-04:00",
        "2025-03-09T08:00-04:00",
    ]


@pytest.mark.parametrize("dst", POLICIES)
def test_every_minute_of_a_skipped_hour_is_skipped(dst: str) -> None:
    """B006: no single run is made up for sixty."""
    assert fires("* 2 * * *", NEW_YORK, "2025-03-09T01:58", 2, dst) == [
        "2025-03-10T02:00-04:00",
        "2025-03-10T02:01-04:00",
    ]


@pytest.mark.parametrize("dst", POLICIES)
def test_every_quarter_of_an_hour_goes_on_through_a_gap(dst: str) -> None:
    """B007: in real time there is none."""
    assert fires("*/15 * * * *", NEW_YORK, "2025-03-09T01:40", 4, dst) == [
        "2025-03-09T01:45-05:00",
        "2025-03-09T03:00-04:00",
        "2025-03-09T03:15-04:00",
        "2025-03-09T03:30-04:00",
    ]


def test_several_times_inside_one_gap_are_one_run() -> None:
    """B009: whatever their number."""
    assert fires("0,30 2 * * *", NEW_YORK, "2025-03-08T12:00", 3) == [
        "2025-03-09T03:00-04:00",
        "2025-03-10T02:00-04:00",
        "2025-03-10T02:30-04:00",
    ]


def test_a_month_begins_once_in_every_offset() -> None:
    """B011: each midnight computed from the one before it, never from 23:00 of the evening."""
    expected = [
        "2024-03-01T00:00+01:00",
        "2024-04-01T00:00+02:00",
        "2024-05-01T00:00+02:00",
        "2024-06-01T00:00+02:00",
    ]
    assert fires("0 0 1 * *", BERLIN, "2024-02-23T00:00", 4) == expected
    assert one_by_one("0 0 1 * *", BERLIN, "2024-02-23T00:00", 4) == expected


@pytest.mark.parametrize("dst", POLICIES)
def test_a_fold_of_half_an_hour_repeats_one_minute(dst: str) -> None:
    """B013: both passes of 01:30 on Lord Howe, and no other minute."""
    assert fires("30 * * * *", "Australia/Lord_Howe", "2025-04-06T00:45", 4, dst) == [
        "2025-04-06T01:30+11:00",
        "2025-04-06T01:30+10:30",
        "2025-04-06T02:30+10:30",
        "2025-04-06T03:30+10:30",
    ]


def test_a_gap_of_two_hours_ends_two_hours_later() -> None:
    """B015: no code assumes one."""
    assert fires("30 2 * * *", "Antarctica/Troll", "2026-03-28T12:00", 3) == [
        "2026-03-29T03:00+02:00",
        "2026-03-30T02:30+02:00",
        "2026-03-31T02:30+02:00",
    ]


@pytest.mark.parametrize("dst", POLICIES)
def test_a_fold_that_begins_within_an_hour_repeats_its_last_quarter(dst: str) -> None:
    """B016: both fires of the second pass are there."""
    assert fires("*/7 2 * * *", CHATHAM, "2025-04-06T02:50+13:45", 4, dst) == [
        "2025-04-06T02:56+13:45",
        "2025-04-06T02:49+12:45",
        "2025-04-06T02:56+12:45",
        "2025-04-07T02:00+12:45",
    ]


@pytest.mark.parametrize(
    ("after", "expected"),
    [("2026-09-26T03:50", "2026-09-27T03:50+13:45"), ("2026-04-04T03:50", "2026-04-05T03:50+12:45")],
)
def test_a_time_just_after_a_change_stays_where_it_is(after: str, expected: str) -> None:
    """B017: also where offsets are quarters of an hour."""
    assert fires("50 3 * * *", CHATHAM, after, 1) == [expected]


def test_a_date_whose_only_time_is_skipped_is_found_at_once() -> None:
    """B018: it runs at the gap's end; under ``wall`` a year later, without a long search."""
    assert fires("0 1 30 3 *", "Europe/Lisbon", "2025-01-01T00:00", 2) == [
        "2025-03-30T02:00+01:00",
        "2026-03-30T01:00+01:00",
    ]
    assert fires("0 1 30 3 *", "Europe/Lisbon", "2025-01-01T00:00", 2, "wall") == [
        "2026-03-30T01:00+01:00",
        "2027-03-30T01:00+01:00",
    ]
    assert effort(lambda: fires("0 1 30 3 *", "Europe/Lisbon", "2025-01-01T00:00", 2)) < 10_000


def test_no_matching_day_is_jumped_over_at_a_change() -> None:
    """B019: a day is not 24 hours."""
    assert fires("0 0 * * 0-4", "America/Chicago", "2021-03-12T00:00", 3) == [
        "2021-03-14T00:00-06:00",
        "2021-03-15T00:00-05:00",
        "2021-03-16T00:00-05:00",
    ]


def test_the_monday_after_a_change_has_one_run() -> None:
    """B020: at eight, not at seven as well."""
    assert fires("0 8 * * 1", "Europe/Amsterdam", "2017-10-16T09:00", 3) == [
        "2017-10-23T08:00+02:00",
        "2017-10-30T08:00+01:00",
        "2017-11-06T08:00+01:00",
    ]


def test_a_weekly_run_does_not_miss_the_sunday_of_a_change() -> None:
    """B021: it comes after six days and 23 hours."""
    found = fire_times("0 12 * * 0", BERLIN, local(BERLIN, "2022-03-24T12:00"), 2)
    assert [moment.astimezone(zone("tz", BERLIN)).isoformat() for moment in found] == [
        "2022-03-27T12:00:00+02:00",
        "2022-04-03T12:00:00+02:00",
    ]


def test_fire_times_are_utc_and_ascend_through_both_changes() -> None:
    """B002, B007: on no wall clock, so that nobody can compare them wrongly."""
    after = datetime(2025, 1, 1, tzinfo=UTC)
    for dst in POLICIES:
        found = list(islice(recurrence("*/30 * * * *", NEW_YORK, dst).times(after), 17_520))
        assert {moment.tzinfo for moment in found} == {UTC}
        assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(minutes=30)}
