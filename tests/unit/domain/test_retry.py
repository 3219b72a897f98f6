"""Policies by example, and what they refuse."""

from datetime import timedelta
from typing import Any

import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.domain.retry import Constant, Delays, Exponential, backoff, describe, longest, restore

SECOND = timedelta(seconds=1)


def test_the_default_doubles_from_ten_seconds_to_a_quarter_of_an_hour() -> None:
    """10, 20, 40 … 640, 900, 900 seconds at most."""
    bounds = [longest(Exponential(), failures) / SECOND for failures in range(1, 10)]
    assert bounds == [10, 20, 40, 80, 160, 320, 640, 900, 900]


def test_full_jitter_spreads_over_the_whole_bound() -> None:
    """The draw is the fraction of the bound, in whole microseconds, rounded down."""
    assert backoff(Exponential(), 1, 0.0) == timedelta(0)
    assert backoff(Exponential(), 2, 0.5) == 10 * SECOND
    assert backoff(Exponential(), 1, 0.123_456_789) == timedelta(microseconds=1_234_567)


def test_constant_and_listed_waits_ignore_the_draw() -> None:
    """What was asked for is what happens; the last of a list repeats."""
    assert backoff(Constant(7 * SECOND), 3, 0.9) == 7 * SECOND
    listed = Delays((SECOND, 60 * SECOND))
    assert [backoff(listed, n, 0.9) / SECOND for n in (1, 2, 3, 99)] == [1, 60, 60, 60]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Exponential(base=timedelta(0)), "retry.base"),
        (lambda: Exponential(cap=-SECOND), "retry.cap"),
        (lambda: Exponential(cap=timedelta(days=40_000)), "retry.cap"),
        (lambda: Constant(timedelta(0)), "retry.delay"),
        (lambda: Delays(()), "retry.delays"),
        (lambda: Delays((SECOND,) * 101), "retry.delays"),
        (lambda: Delays((-SECOND,)), "retry.delays"),
    ],
)
def test_impossible_policies_are_named(make: Any, field: str) -> None:
    """A policy that could not be followed never comes into being."""
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.field == field


@pytest.mark.parametrize(
    "data", [{}, {"policy": "fibonacci"}, {"policy": "constant"}, {"policy": "constant", "delay_us": "1"}]
)
def test_an_unknown_policy_is_refused(data: dict[str, Any]) -> None:
    """What no version wrote is not guessed at."""
    with pytest.raises(InvalidInput, match="retry"):
        restore(data)


def test_policies_are_written_in_microseconds() -> None:
    """The event shows whole numbers that any language can read."""
    assert describe(Exponential()) == {
        "policy": "exponential",
        "base_us": 10_000_000,
        "cap_us": 900_000_000,
    }
    assert describe(Delays((SECOND,))) == {"policy": "delays", "delays_us": [1_000_000]}
