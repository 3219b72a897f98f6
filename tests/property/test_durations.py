"""Durations as people write them."""

import math
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.domain.durations import duration
from fencepost.domain.errors import InvalidInput
from fencepost.domain.limits import DURATION_MAX
from fencepost.domain.retry import Constant, Delays
from fencepost.domain.values import check_duration, duration_text
from fencepost.entrypoints.library.options import job_fields

MILLISECOND = timedelta(milliseconds=1)
UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 0.001}
COUNTS = st.fixed_dictionaries({}, optional={unit: st.integers(0, 50) for unit in UNITS})
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.timedeltas(),
    st.binary(max_size=3),
    st.from_regex(r"[0-9.]{1,5}(ms|[wdhms])?", fullmatch=True),
)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the field that its InvalidInput names."""
    try:
        return call()
    except InvalidInput as error:
        return error.field


@given(st.timedeltas(timedelta(0), timedelta(days=400)).map(lambda value: value // MILLISECOND * MILLISECOND))
@example(timedelta(0))
def test_a_duration_is_told_as_it_could_be_written(value: timedelta) -> None:
    """In one unit, whole."""
    text = duration_text(value)
    assert duration("delay", text) == value
    assert re.fullmatch(r"[0-9]+(d|h|m|s|ms)", text)


def test_the_bounds_of_a_duration_are_told_as_durations() -> None:
    """Nobody reads seconds in powers of ten."""
    with pytest.raises(InvalidInput, match=r"between 10s and 36600d$"):
        check_duration("window", timedelta(seconds=9), timedelta(seconds=10))


@given(COUNTS.filter(bool))
def test_text_is_the_sum_of_its_parts(counts: dict[str, int]) -> None:
    """From large units to small ones, each at most once; case and space around do not matter."""
    text = "".join(f"{counts[unit]}{unit}" for unit in UNITS if unit in counts)
    expected = sum(number * UNITS[unit] for unit, number in counts.items())
    assert math.isclose(duration("delay", text).total_seconds(), expected, abs_tol=1e-6)
    assert duration("delay", f" {text.upper()} ") == duration("delay", text)


@given(st.floats(0, 3e9))
def test_numbers_are_seconds(seconds: float) -> None:
    """To the microsecond."""
    assert abs(duration("delay", seconds) - timedelta(seconds=seconds)) <= timedelta(microseconds=1)


@given(ANYTHING)
@example("9" * 400 + "s")
@example(10**400)
@example(2**63)
@example(1e308)
@example(float("nan"))
@example(float("inf"))
def test_anything_is_a_duration_in_bounds_or_refused_by_name(value: Any) -> None:
    """Nothing else: no other exception, no negative and no endless duration."""
    found = outcome(lambda: duration("delay", value))
    assert found == "delay" or timedelta(0) <= found <= DURATION_MAX


REFUSED: list[Any] = [
    -5,
    -0.001,
    timedelta(seconds=-1),
    "-5s",
    1e308,
    2**63,
    10**400,
    float("nan"),
    float("inf"),
    "nan",
    "5",
    "",
    " ",
    "s",
    "5 s",
    "1h 30m",
    "30m1h",
    "30s30s",
    "1e3s",
    "1_0s",
    "+5s",
    ".5s",
    "5.s",
    "\u0663s",
    "5y",
    "9" * 101 + "s",
    timedelta.max,
    True,
    False,
    None,
    b"5s",
    [5],
]


@pytest.mark.parametrize("value", REFUSED, ids=repr)
def test_what_is_no_duration_is_refused(value: Any) -> None:
    """Text without a unit could mean anything, and a truth value is no number."""
    with pytest.raises(InvalidInput, match="delay: must be a duration"):
        duration("delay", value)


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("5 minutes", ": write 5m"),
        ("5min", ": write 5m"),
        ("90 sec", ": write 90s"),
        ("250 msecs", ": write 250ms"),
        ("2 Weeks", ": write 2w"),
        ("1h 30m", ": write 1h30m"),
        ("30m1h", ": write 1h30m"),
        ("30s30s", ": each unit once"),
        ("1y", ": years and months differ in length, write days such as 365d or 30d"),
        ("2 months", ": years and months differ in length, write days such as 365d or 30d"),
        ("3 fortnights", ": the units are w, d, h, m, s, ms"),
        ("5", ", with a unit: 5s or 5m"),
        ("-3s", ", not negative: '-3s'"),
        ("soon", ""),
        ("", ""),
    ],
)
def test_a_refusal_says_what_to_write_instead(value: str, advice: str) -> None:
    """As far as it can be guessed; what it says to write is a duration."""
    with pytest.raises(InvalidInput) as refused:
        duration("delay", value)
    assert refused.value.rule == f"must be a duration such as 30s, 5m or 1h30m{advice}"
    if advice.startswith(": write"):
        duration("delay", advice.removeprefix(": write "))


@pytest.mark.parametrize("value", [0, 0.0, "0s", timedelta(0)], ids=repr)
def test_nothing_is_a_duration(value: Any) -> None:
    """Whether it makes sense is the option's business: a delay of 0 does, a lease does not."""
    assert duration("delay", value) == timedelta(0)


@given(st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)))
def test_any_retry_is_a_policy_or_refused_by_name(value: Any) -> None:
    """A wrong one never gets as far as a job."""
    found = outcome(lambda: job_fields({"retry": value})["retry"])
    assert found in ("retry", "retry.delay", "retry.delays") or isinstance(found, Constant | Delays)
