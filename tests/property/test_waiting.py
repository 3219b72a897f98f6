"""Backoff: bounds, overflow and the way into an event and back."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.limits import DURATION_MAX
from fencepost.domain.retry import Exponential, RetryPolicy, backoff, describe, longest, restore
from support.strategies import draws, policies, waits

FAILURES = st.integers(1, 5_000)


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [
        (1, 300),
        (2, 600),
        (3, 1200),
        (4, 2400),
        (5, 3600),
        *((n, 3600) for n in (12, 13, 64, 1023, 1024, 1025)),
    ],
)
def test_doubling_stops_at_the_cap_and_never_overflows(failures: int, seconds: int) -> None:
    """B127: With base 300 s and cap 3600 s the bound is min(cap, base · 2^(n−1)) for every n."""
    policy = Exponential(timedelta(seconds=300), timedelta(seconds=3600))
    assert longest(policy, failures) == timedelta(seconds=seconds)
    assert longest(policy, 4_000) == timedelta(seconds=3600)


@pytest.mark.parametrize("base", [0.001, 1, 3600])
@pytest.mark.parametrize("cap", [1, 3600])
def test_waits_grow_until_the_cap(base: float, cap: float) -> None:
    """B129: Over 5,000 failures the longest wait never shrinks, stays above zero and ends at the cap."""
    policy = Exponential(timedelta(seconds=base), timedelta(seconds=cap))
    bounds = [longest(policy, failures) for failures in range(1, 5_001)]
    assert all(earlier <= later for earlier, later in pairwise(bounds))
    assert min(bounds) > timedelta(0)
    assert bounds[-1] == timedelta(seconds=cap)


@given(policies, FAILURES, draws)
def test_a_wait_stays_between_zero_and_its_bound(policy: RetryPolicy, failures: int, draw: float) -> None:
    """B129: 0 ≤ backoff ≤ longest ≤ 100 years for every policy, failure and draw."""
    assert timedelta(0) <= backoff(policy, failures, draw) <= longest(policy, failures) <= DURATION_MAX


@given(waits, waits, FAILURES)
def test_the_smallest_base_reaches_every_cap(base: timedelta, cap: timedelta, failures: int) -> None:
    """The bound is min(cap, base · 2^(n−1)) exactly, also where a timedelta could not hold the product."""
    microsecond = timedelta(microseconds=1)
    exact = min(cap // microsecond, base // microsecond * 2 ** (failures - 1))
    assert longest(Exponential(base, cap), failures) == exact * microsecond


@given(policies, FAILURES, draws, draws)
def test_a_larger_draw_never_waits_less(policy: RetryPolicy, failures: int, one: float, two: float) -> None:
    """B129: Backoff grows with the draw, so a uniform draw spreads it evenly."""
    assert backoff(policy, failures, min(one, two)) <= backoff(policy, failures, max(one, two))


@given(policies)
def test_a_policy_survives_the_way_through_an_event(policy: RetryPolicy) -> None:
    """Describing and restoring a policy gives the same policy."""
    assert restore(describe(policy)) == policy
