"""Fire times of cron expressions: where clocks are turned, over long waits, and at the calendar's ends."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice, pairwise, takewhile
from threading import Thread

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import Dst, recurrence
from fencepost.domain.zones import zone

YEAR = datetime(2025, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)


def fires(expression: str, tz: str, after: str, count: int, dst: Dst = Dst.VIXIE) -> list[str]:
    """The next fire times after a wall-clock time, on the zone's wall clock with its offset."""
    place = zone("tz", tz)
    start = datetime.fromisoformat(after)
    found = recurrence(expression, tz, dst).times(start if start.tzinfo else start.replace(tzinfo=place))
    return [f"{moment.astimezone(place):%Y-%m-%dT%H:%M%z}" for moment in islice(found, count)]


def in_utc(expression: str, after: str, count: int) -> list[str]:
    """The next fire times after midnight of a date, all in UTC, without their zeros."""
    found = fires(expression, "UTC", f"{after}T00:00", count)
    return [text.removesuffix("+0000").removesuffix("T00:00") for text in found]


GAP = "2025-03-29T12:00"
FOLD = "2025-10-25T12:00"


@pytest.mark.parametrize(
    ("expression", "dst", "expected"),
    [
        ("30 2 * * *", Dst.VIXIE, ["30T03:00+0200", "31T02:30+0200"]),
        ("30 2 * * *", Dst.WALL, ["31T02:30+0200", "01T02:30+0200"]),
        ("0,30 2 * * *", Dst.VIXIE, ["30T03:00+0200", "31T02:00+0200"]),
        ("30 2,3 * * *", Dst.VIXIE, ["30T03:00+0200", "30T03:30+0200", "31T02:30+0200"]),
        ("0 2,3 * * *", Dst.VIXIE, ["30T03:00+0200", "31T02:00+0200"]),
        ("*/30 2 * * *", Dst.VIXIE, ["31T02:00+0200", "31T02:30+0200"]),
        ("30 */2 30,31 * *", Dst.VIXIE, ["30T00:30+0100", "30T04:30+0200"]),
        ("30 2 30 * *", Dst.VIXIE, ["30T03:00+0200", "30T02:30+0200"]),
        ("30 2 31 * *", Dst.VIXIE, ["31T02:30+0200", "31T02:30+0200"]),
    ],
)
def test_times_that_a_clock_skips(expression: str, dst: Dst, expected: list[str]) -> None:
    """Made up for once at the gap's end, unless a star says real time or the policy says wall clock."""
    found = fires(expression, "Europe/Oslo", GAP, len(expected), dst)
    assert [text.split("-", 2)[2] for text in found] == expected


@pytest.mark.parametrize(
    ("expression", "dst", "expected"),
    [
        ("30 2 * * *", Dst.VIXIE, ["26T02:30+0200", "27T02:30+0100"]),
        ("30 2 * * *", Dst.WALL, ["26T02:30+0200", "26T02:30+0100", "27T02:30+0100"]),
        ("*/30 2 * * *", Dst.VIXIE, ["26T02:00+0200", "26T02:30+0200", "26T02:00+0100", "26T02:30+0100"]),
        (
            "30 * 26 * *",
            Dst.VIXIE,
            [f"26T{hour}" for hour in ("00:30+0200", "01:30+0200", "02:30+0200", "02:30+0100")],
        ),
        ("0,30 2,3 * * *", Dst.VIXIE, ["26T02:00+0200", "26T02:30+0200", "26T03:00+0100", "26T03:30+0100"]),
    ],
)
def test_times_that_a_clock_repeats(expression: str, dst: Dst, expected: list[str]) -> None:
    """Counted at the first pass only, unless a star says real time or the policy says wall clock."""
    found = fires(expression, "Europe/Oslo", FOLD, len(expected), dst)
    assert [text.split("-", 2)[2] for text in found] == expected


def test_a_start_between_two_passes_does_not_repeat_the_first() -> None:
    """The second 02:30 is no fire time, from wherever it is looked for."""
    for after in (
        "2025-10-26T02:30+02:00",
        "2025-10-26T02:45+02:00",
        "2025-10-26T02:00+01:00",
        "2025-10-26T02:29+01:00",
    ):
        assert fires("30 2 * * *", "Europe/Oslo", after, 1) == ["2025-10-27T02:30+0100"]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2025-03-30T01:59+01:00", "2025-03-30T03:00+0200"),
        ("2025-03-30T03:00+02:00", "2025-03-31T02:30+0200"),
    ],
)
def test_a_skipped_time_is_made_up_for_at_one_instant(after: str, expected: str) -> None:
    """It lies strictly after the last minute before the gap, and not after the gap's end."""
    assert fires("30 2 * * *", "Europe/Oslo", after, 1) == [expected]


def test_a_day_that_a_zone_skips_is_made_up_for() -> None:
    """Samoa had no 30 December 2011: what was due then ran as the 31st began, once."""
    assert fires("15 8,20 30 12 *", "Pacific/Apia", "2011-12-01T00:00", 2) == [
        "2011-12-31T00:00+1400",
        "2012-12-30T08:15+1400",
    ]
    assert fires("15 8 30 12 *", "Pacific/Apia", "2011-12-01T00:00", 1, Dst.WALL) == ["2012-12-30T08:15+1400"]


def test_a_day_that_a_zone_repeats_runs_once() -> None:
    """Kwajalein turned its clock back by 23 hours in 1969."""
    assert fires("0 1 * * *", "Pacific/Kwajalein", "1969-09-30T00:30+11:00", 2) == [
        "1969-09-30T01:00+1100",
        "1969-10-01T01:00-1200",
    ]
    assert fires("0 1 * * *", "Pacific/Kwajalein", "1969-09-30T00:30+11:00", 3, Dst.WALL) == [
        "1969-09-30T01:00+1100",
        "1969-09-30T01:00-1200",
        "1969-10-01T01:00-1200",
    ]


def test_an_offset_of_odd_seconds_is_read_as_a_wall_clock_shows_it() -> None:
    """Monrovia was 44 minutes and 30 seconds behind: at 12:45 UTC its clocks showed 12:00."""
    found = recurrence("0 12 * * *", "Africa/Monrovia").times(datetime(1971, 6, 1, tzinfo=UTC))
    assert next(found) == datetime(1971, 6, 1, 12, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 L * *", ["2025-01-31", "2025-02-28", "2025-03-31", "2025-04-30"]),
        ("0 0 L 2 *", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
        ("0 0 29,L 2 *", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
        ("0 0 L 2 1", ["2025-02-03", "2025-02-10", "2025-02-17", "2025-02-24", "2025-02-28"]),
        ("0 0 L * */7", ["2025-08-31", "2025-11-30", "2026-05-31"]),
        ("0 0 * * 5#5", ["2025-01-31", "2025-05-30", "2025-08-29"]),
        ("0 0 * * 0#1,MON#2", ["2025-01-05", "2025-01-13", "2025-02-02", "2025-02-10"]),
        ("0 0 * 2 TUE,MON#2", ["2025-02-04", "2025-02-10", "2025-02-11"]),
        ("0 0 1 * 1#1", ["2025-01-06", "2025-02-01", "2025-02-03", "2025-03-01"]),
        ("0 0 L * 5#1", ["2025-01-03", "2025-01-31", "2025-02-07", "2025-02-28"]),
        ("0 0 */2 * 1#1", ["2025-02-03", "2025-03-03", "2025-04-07"]),
        ("0 0 31 2 1", ["2025-02-03", "2025-02-10", "2025-02-17", "2025-02-24", "2026-02-02"]),
        ("0 0 1-29,31,L * *", ["2025-01-02", "2025-01-03"]),
        ("0 0 13 * 5", ["2025-01-03", "2025-01-10", "2025-01-13", "2025-01-17"]),
        ("0 0 13 * */5", ["2025-04-13", "2025-06-13", "2025-07-13"]),
    ],
)
def test_days_by_both_day_fields(expression: str, expected: list[str]) -> None:
    """Last days, nth weekdays, unions and intersections of both."""
    assert in_utc(expression, "2025-01-01", len(expected)) == expected


def test_thirty_one_listed_days_are_not_all_days() -> None:
    """1-29, 31 and the last day leave out the 30th of long months."""
    found = in_utc("0 0 1-29,31,L * *", "2025-01-28", 3)
    assert found == ["2025-01-29", "2025-01-31", "2025-02-01"]


def test_a_leap_day_is_found_across_the_end_of_a_century() -> None:
    """2100 has none."""
    assert in_utc("0 0 29 2 *", "2096-03-01", 2) == ["2104-02-29", "2108-02-29"]


@pytest.mark.parametrize("weekday", range(7))
def test_a_leap_day_on_a_weekday_is_found_however_rare(weekday: int) -> None:
    """Forty years may lie between two of them; ``*/28`` is the 1st and the 29th, and the star makes both hold."""
    times = recurrence(f"0 0 */28 2 {weekday}").times(datetime(2000, 1, 1, tzinfo=UTC))
    leap = [moment for moment in takewhile(lambda moment: moment.year < 2400, times) if moment.day == 29]
    waits = {later.year - earlier.year for earlier, later in pairwise(leap)}
    assert len(leap) in (13, 14, 15)
    assert max(waits) == 40
    assert {moment.isoweekday() % 7 for moment in leap} == {weekday}


def walked(expression: str, tz: str, after: datetime, count: int) -> Iterator[datetime]:
    """Each time asked for anew, from the one before."""
    for _ in range(count):
        after = next(recurrence(expression, tz).times(after))
        yield after


@pytest.mark.parametrize(
    "expression", ["30 1,2 * * *", "*/20 1-3 * * *", "0 2 L * *", "30 2 * 3,10 0#5", "@hourly"]
)
@pytest.mark.parametrize("tz", ["Europe/Oslo", "Australia/Lord_Howe", "America/St_Johns"])
def test_the_next_time_depends_on_nothing_but_the_one_before(expression: str, tz: str) -> None:
    """Whoever asks, and whenever they began."""
    whole = list(islice(recurrence(expression, tz).times(YEAR), 150))
    assert list(walked(expression, tz, YEAR, 150)) == whole
    assert whole == sorted(set(whole))
    assert all(moment.tzinfo is UTC for moment in whole)


def test_iterations_do_not_disturb_one_another() -> None:
    """Two at once from one recurrence, and several threads."""
    shared = recurrence("30 2 1 * 1", "Europe/Oslo")
    expected = list(islice(shared.times(YEAR), 40))
    first, second = shared.times(YEAR), shared.times(datetime(2040, 5, 5, tzinfo=UTC))
    assert [moment for moment, _ in zip(first, islice(second, 40), strict=False)] == expected
    found: list[list[datetime]] = []
    threads = [Thread(target=lambda: found.append(list(islice(shared.times(YEAR), 40)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"])
@pytest.mark.parametrize(
    "expression", ["* * * * *", "0 0 29 2 *", "0 0 L * *", "30 2 * 12 5#4", "0 0 1 1 *", "59 23 31 12 *"]
)
def test_the_calendar_has_a_last_fire_time(expression: str, tz: str) -> None:
    """After it the iteration ends; nothing is raised."""
    times = list(recurrence(expression, tz).times(datetime(9999, 12, 25, tzinfo=UTC)))
    assert times == sorted(times)
    assert all(moment <= LAST for moment in times)
    assert list(recurrence(expression, tz).times(LAST + timedelta(seconds=30))) == []


def test_the_last_minute_of_the_calendar_fires() -> None:
    """It is a minute like any other."""
    assert list(recurrence("* * * * *").times(LAST - timedelta(minutes=2)))[-1] == LAST
    assert list(recurrence("59 23 31 12 *").times(datetime(9998, 12, 31, 23, 59, tzinfo=UTC))) == [LAST]
    assert list(recurrence("0 0 29 2 *").times(datetime(9997, 1, 1, tzinfo=UTC))) == []


@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("offset", [-14, 0, 14])
def test_the_calendar_has_a_first_fire_time(tz: str, offset: int) -> None:
    """Asked for from any offset's first midnight, which may lie before the calendar in UTC."""
    start = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=offset)))
    first = list(islice(recurrence("0 12 * * *", tz).times(start), 2))
    assert first[1] - first[0] == timedelta(days=1)
    assert first[0].year == 1


@pytest.mark.parametrize("offset", [-14, 14])
def test_moments_beyond_the_calendar_in_utc_have_no_times_after_them(offset: int) -> None:
    """The last moment that a datetime can be, east or west."""
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=offset)))
    assert len(list(recurrence("0 * * * *").times(last))) == max(0, offset)


def test_a_naive_moment_is_refused() -> None:
    """At once, not when the first time is taken."""
    with pytest.raises(InvalidInput, match="after"):
        recurrence("@daily").times(datetime(2025, 1, 1))  # noqa: DTZ001  # naive on purpose


def test_seconds_of_the_start_do_not_matter() -> None:
    """The start itself is left out, a fraction after it is not."""
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    times = recurrence("0 12 * * *").times
    assert next(times(noon - timedelta(microseconds=1))) == noon
    assert next(times(noon)) == noon + timedelta(days=1)
    assert next(times(noon + timedelta(seconds=59))) == noon + timedelta(days=1)


def test_times_are_computed_as_they_are_taken() -> None:
    """Eight thousand years of minutes cost nothing until somebody wants them."""
    assert next(recurrence("* * * * *", "Europe/Oslo").times(YEAR)) == YEAR + timedelta(minutes=1)
