"""What cron expressions mean, and which are refused.

B027, B029, B031, B032, B033, B036, B037, B040, B049, B050, B051, B052, B054.
"""

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.firing import Outcome, decide_due
from fencepost.domain.job import Specification
from fencepost.domain.recurrence import recurrence
from fencepost.domain.schedule import Definition, Missed, Overlap, Policies, Timing
from fencepost.domain.schedule_changes import created
from fencepost.domain.zones import zone
from support.cron_asking import fire_times, fire_times_until, local, refusal
from support.cron_days_oracle import fires_by_mark

YEAR = datetime(2025, 1, 1, tzinfo=UTC)
TROLL = "Antarctica/Troll"


def moments(expression: str, count: int, after: datetime = YEAR) -> list[str]:
    """The next fire times in UTC, without their year."""
    return [f"{moment:%m-%dT%H:%M}" for moment in fire_times(expression, "UTC", after, count)]


def dates(expression: str, count: int) -> list[str]:
    """The dates of the next fire times, each at midnight."""
    found = fire_times(expression, "UTC", YEAR, count)
    assert {(moment.hour, moment.minute) for moment in found} == {(0, 0)}
    return [f"{moment:%m-%d}" for moment in found]


def test_a_range_of_one_hour_is_that_hour() -> None:
    """B027: not the whole field."""
    assert moments("0 9-9 * * *", 2) == ["01-01T09:00", "01-02T09:00"]


def test_a_range_goes_upwards() -> None:
    """B029: the refusal writes out what was meant, in its order."""
    assert "write `22,1,4`" in refusal("0 22-4/3 * * *").rule
    assert moments("0 22,1,4 * * *", 3) == ["01-01T01:00", "01-01T04:00", "01-01T22:00"]


@pytest.mark.parametrize(
    ("expression", "instead"), [("0 0 * * FRI-MON", "5-6,0-1"), ("0 22-2 * * *", "22-23,0-2")]
)
def test_a_range_over_the_end_of_its_field_is_refused_when_it_is_read(expression: str, instead: str) -> None:
    """B031: with a clear text, and never later."""
    error = refusal(expression)
    assert (error.field, f"write `{instead}`" in error.rule) == ("cron", True)


def test_one_of_two_days_is_enough() -> None:
    """B032: Fridays, and the thirteenth."""
    assert dates("0 0 13 * 5", 5) == ["01-03", "01-10", "01-13", "01-17", "01-24"]


def test_a_day_field_that_begins_with_a_star_restricts_the_other() -> None:
    """B033: Mondays of odd days, as Vixie's cron reads it."""
    assert dates("0 0 */2 * 1", 3) == ["01-13", "01-27", "02-03"]


def test_a_date_beside_an_nth_weekday_counts() -> None:
    """B036: the first of the month, and its first Monday."""
    assert dates("0 0 1 * 1#1", 5) == ["01-06", "02-01", "02-03", "03-01", "03-03"]


def test_the_last_weekday_of_a_month_is_refused() -> None:
    """B037: what it would need cannot be said, so it is never accepted and then without a fire time."""
    assert "write `FRI#4`" in refusal("0 0 1 * L5").rule


@pytest.mark.parametrize("expression", ["0 0 L * 1#1", "0 0 25 * 4#1", "10 0 1-5 * 2#2"])
def test_days_beside_nth_weekdays_have_all_their_fire_times(expression: str) -> None:
    """B037: these are accepted, since their dates exist, and give what a walk through every minute finds."""
    until = YEAR + timedelta(days=100)
    walked = list(fires_by_mark(expression, zone("tz", "UTC"), YEAR, until, "vixie"))
    assert fire_times_until(expression, "UTC", YEAR, until) == walked
    assert len(walked) > 5


def test_leap_days_are_found_across_a_century_without_one() -> None:
    """B040: eight years are not the longest wait."""
    found = fire_times("0 0 29 2 *", "UTC", datetime(2096, 3, 1, tzinfo=UTC), 3)
    assert [f"{moment:%Y-%m-%d}" for moment in found] == ["2104-02-29", "2108-02-29", "2112-02-29"]


def test_a_step_beyond_its_field_is_refused_and_a_large_one_is_told_in_words() -> None:
    """B049: 90 minutes are an interval; 40 leave two minutes of every hour, and the sentence says so."""
    assert "write `every 90m`" in refusal("*/90 * * * *").rule
    assert moments("*/40 * * * *", 4) == ["01-01T00:40", "01-01T01:00", "01-01T01:40", "01-01T02:00"]
    assert "0 and 40" in recurrence("*/40 * * * *").words()


def test_steps_of_weekdays_end_on_saturday() -> None:
    """B050: 7 is no eighth day, so Sunday is not among every second day from Monday on."""
    assert dates("0 0 * * 1/2", 4) == ["01-03", "01-06", "01-08", "01-10"]


def test_a_step_that_begins_at_the_end_of_its_field_is_one_value() -> None:
    """B051: it does not wrap."""
    assert moments("59/15 * * * *", 2) == ["01-01T00:59", "01-01T01:59"]


def test_what_was_missed_is_found_by_walking_forward() -> None:
    """B052: in the second pass, the fire time of the first one is seen."""
    last, now = local(TROLL, "2025-10-19T04:30"), datetime(2025, 10, 26, 1, 50, tzinfo=UTC)
    timing = Timing(cron="30 2-4 * * 0", tz=TROLL, starts_at=YEAR)
    policies = Policies(missed=Missed.ALL, overlap=Overlap.ALLOW)
    definition = Definition(timing=timing, template=Specification(type="work"), policies=policies)
    decided = decide_due(created("troll", definition, last), now, busy=False)
    assert [(row.fire_at, row.outcome) for row in decided.firings] == [
        (local(TROLL, "2025-10-26T02:30+02:00"), Outcome.FIRED)
    ]


def test_fire_times_do_not_depend_on_when_a_process_started() -> None:
    """B054: at 00:07 and at 00:11 the next quarter is the same."""
    assert moments("*/15 * * * *", 1, YEAR + timedelta(minutes=7)) == ["01-01T00:15"]
    assert moments("*/15 * * * *", 1, YEAR + timedelta(minutes=11)) == ["01-01T00:15"]
