"""Fire times around changes of the clock, as judges find them who walk every minute and share no code of ours."""

import itertools
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from multiprocessing import get_context

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.domain.errors import InvalidInput
from fencepost.domain.recurrence import recurrence
from fencepost.domain.zones import zone
from support.cron_asking import fire_times, fire_times_until
from support.cron_comparing import POLICIES, Stretch, differences, stretches
from support.cron_days_oracle import DaysCron, fires_by_mark
from support.cron_expressions import EXPRESSIONS, PLAIN
from support.cron_oracle import Cron, fires
from support.cron_strategies import dayed, plain, united
from support.cron_windows import MINUTE, Judge, Window, changes, days_around, zone_names

FOUR_CENTURIES = [date(2000, 1, 1) + timedelta(days=i) for i in range(146_097)]
"""After these the calendar repeats itself, weekdays included."""
ODD_YEARS = {
    "America/New_York": 2025,
    "America/Havana": 2024,
    "America/St_Johns": 2010,
    "America/Scoresbysund": 2024,
    "America/Caracas": 2016,
    "America/Asuncion": 2023,
    "Antarctica/Troll": 2025,
    "Asia/Beirut": 2024,
    "Asia/Pyongyang": 2018,
    "Asia/Tehran": 2021,
    "Atlantic/Azores": 2025,
    "Australia/Lord_Howe": 2025,
    "Africa/Cairo": 2024,
    "Africa/Casablanca": 2025,
    "Europe/Dublin": 2025,
    "Europe/Volgograd": 2020,
    "Pacific/Apia": 2011,
    "Pacific/Chatham": 2025,
    "Pacific/Kwajalein": 1993,
}
"""Changes at midnight, at one minute past, by half hours, by two hours and by whole days, and ordinary ones."""
SHARE = 6
"""Each stretch of the sample is asked about every sixth expression."""


@frozen
class Scene:
    """Three days around a change of a zone's clock, or any three where it never changes, and a moment in them."""

    tz: str
    start: datetime
    end: datetime
    after: datetime
    policy: str

    @property
    def window(self) -> Window:
        """Its minutes."""
        return _window(self.tz, self.start, self.end)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Any zone, any year for which tz data are dense, any moment to the second."""
    tz = draw(st.sampled_from(zone_names()))
    new_year = datetime(draw(st.integers(1975, 2060)), 1, 1, tzinfo=UTC)
    ruled = zone("tz", tz)
    change = draw(st.sampled_from(changes(ruled, new_year, new_year + timedelta(days=365)) or [new_year]))
    start, end = days_around(ruled, change)
    after = start + timedelta(seconds=draw(st.integers(-60, 72 * 3_600)))
    return Scene(tz, start, end, after, draw(st.sampled_from(POLICIES)))


@settings(max_examples=50)
@given(plain, scenes())
def test_the_judges_agree_with_each_other(expression: str, scene: Scene) -> None:
    """Two walks, one by the fold and one by the high-water mark, and the windows that both are asked through."""
    ruled, before = zone("tz", scene.tz), scene.start - MINUTE
    walked = [at for at in fires(expression, ruled, before, 5_000, scene.policy, 5) if at <= scene.end]
    assert list(fires_by_mark(expression, ruled, before, scene.end, scene.policy)) == walked
    assert scene.window.fires(Cron(expression), scene.policy) == walked
    assert scene.window.fires(DaysCron(expression), scene.policy) == walked


@settings(max_examples=50)
@given(dayed | united, scenes())
def test_a_window_shows_what_a_walk_finds(expression: str, scene: Scene) -> None:
    """For ``L`` and ``#``, which only the second judge knows."""
    walked = fires_by_mark(expression, zone("tz", scene.tz), scene.start - MINUTE, scene.end, scene.policy)
    assert scene.window.fires(DaysCron(expression), scene.policy) == list(walked)


@settings(max_examples=200)
@given(plain, scenes())
def test_fire_times_are_the_judges(expression: str, scene: Scene) -> None:
    """From any moment; an expression is refused only when its date never comes."""
    _check(expression, Cron(expression), scene)


@settings(max_examples=150)
@given(dayed, scenes())
def test_fire_times_with_last_days_and_nth_weekdays_are_the_judges(expression: str, scene: Scene) -> None:
    """The same for ``L`` and ``#``."""
    _check(expression, DaysCron(expression), scene)


@settings(max_examples=100)
@given(united, scenes())
def test_either_of_two_days_is_right_or_refused(expression: str, scene: Scene) -> None:
    """``L`` or ``#`` beside another restricted day field: never accepted and then wrong."""
    refused = _refusal(expression, scene)
    if refused is None:
        _compare(expression, DaysCron(expression), scene)
    else:
        assert refused.field == "cron"


@pytest.mark.parametrize(("tz", "year"), ODD_YEARS.items(), ids=ODD_YEARS)
def test_odd_changes_of_the_clock_surprise_nobody(tz: str, year: int) -> None:
    """Both policies, a share of the fixed set for each change."""
    found = _odd(tz, year)
    assert found
    for i, stretch in enumerate(found):
        assert differences(stretch, EXPRESSIONS[(year + i) % SHARE :: SHARE]) == []


def test_the_fixed_set_is_large_and_the_judges_read_it_alike() -> None:
    """At least 200 expressions; what both judges know means the same to them on every date of a leap year."""
    assert len(set(EXPRESSIONS)) == len(EXPRESSIONS) >= 200
    for expression in PLAIN:
        one, other = Cron(expression), DaysCron(expression)
        assert one.minutes == set(other.minutes)
        assert one.hours == set(other.hours)
        assert one.fixed == other.fixed
        assert [one.day(day) == other.day(day) for day in FOUR_CENTURIES[:366]] == [True] * 366


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_no_fire_time_differs_around_any_change_of_ten_years() -> None:
    """The fixed set under both policies, on the three days around every change of every zone's clock, 2020 to 2029."""
    todo = stretches(zone_names(), datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))
    todo += [stretch for tz, year in ODD_YEARS.items() for stretch in _odd(tz, year)]
    assert len({name for stretch in todo for name in stretch.zones}) > 200
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = [text for texts in pool.map(differences, todo, chunksize=4) for text in texts]
    assert not found, "\n".join([f"{len(found)} differences", *found[:20]])


def _odd(tz: str, year: int) -> list[Stretch]:
    return stretches([tz], datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC))


def _check(expression: str, judge: Judge, scene: Scene) -> None:
    refused = _refusal(expression, scene)
    if refused is None:
        _compare(expression, judge, scene)
    else:
        assert refused.field == "cron"
        assert not any(map(judge.day, FOUR_CENTURIES)), refused.rule


def _refusal(expression: str, scene: Scene) -> InvalidInput | None:
    try:
        recurrence(expression, scene.tz, scene.policy)
    except InvalidInput as error:
        return error
    return None


def _compare(expression: str, judge: Judge, scene: Scene) -> None:
    """All at once, and again one by one, each from the one before."""
    expected = [at for at in scene.window.fires(judge, scene.policy) if at > scene.after]
    assert fire_times_until(expression, scene.tz, scene.after, scene.end, scene.policy) == expected
    for before, at in itertools.pairwise(expected):
        assert fire_times(expression, scene.tz, before, 1, scene.policy) == [at]


@lru_cache(maxsize=64)
def _window(tz: str, start: datetime, end: datetime) -> Window:
    return Window(zone("tz", tz), start, end)
