"""Backoff policies: how long a failed job waits, in whole microseconds.

All arithmetic is done on integers below 2**53 and one float multiplication, so that PostgreSQL computes the very
same number from the same policy and draw.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from math import floor
from typing import Any, assert_never

from attrs import field, frozen

from .errors import InvalidInput
from .limits import DURATION_MAX

_MICROSECOND = timedelta(microseconds=1)
EXPONENT_LIMIT = 52
"""2**52 microseconds are above every cap; a larger exponent would only overflow."""


def microseconds(duration: timedelta) -> int:
    """Return ``duration`` in whole microseconds."""
    return duration // _MICROSECOND


def _check_wait(_: object, attribute: object, value: timedelta) -> None:
    if not timedelta(0) < value <= DURATION_MAX:
        raise InvalidInput(
            f"retry.{getattr(attribute, 'name', 'delay')}", "must be above 0 and at most 100 years"
        )


@frozen
class Exponential:
    """Full jitter: random(0, min(cap, base · 2^(n−1))) after the n-th failure.

    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """

    base: timedelta = field(default=timedelta(seconds=10), validator=_check_wait)
    cap: timedelta = field(default=timedelta(seconds=900), validator=_check_wait)


@frozen
class Constant:
    """The same wait after each failure."""

    delay: timedelta = field(validator=_check_wait)


def _check_delays(_: object, __: object, value: tuple[timedelta, ...]) -> None:
    if not 1 <= len(value) <= 100:
        raise InvalidInput("retry.delays", "must name 1 to 100 delays")
    if any(not timedelta(0) <= delay <= DURATION_MAX for delay in value):
        raise InvalidInput("retry.delays", "each must be between 0 and 100 years")


def _own(delays: Iterable[timedelta]) -> tuple[timedelta, ...]:
    return tuple(delays)


@frozen
class Delays:
    """A list of waits, one per failure; the last one repeats."""

    delays: tuple[timedelta, ...] = field(converter=_own, validator=_check_delays)


RetryPolicy = Exponential | Constant | Delays
RETRY_DEFAULT = Exponential()


def longest(policy: RetryPolicy, failures: int) -> timedelta:
    """Return the upper bound of the wait after failure number ``failures`` (counted from 1)."""
    match policy:
        case Exponential(base=base, cap=cap):
            doubled = microseconds(base) << min(failures - 1, EXPONENT_LIMIT)  # beyond a timedelta's range
            return min(microseconds(cap), doubled) * _MICROSECOND
        case Constant(delay=delay):
            return delay
        case Delays(delays=delays):
            return delays[min(failures, len(delays)) - 1]
        case _:
            assert_never(policy)


def backoff(policy: RetryPolicy, failures: int, draw: float) -> timedelta:
    """Return the wait after failure number ``failures``; ``draw`` in [0, 1) spreads an exponential one."""
    bound = longest(policy, failures)
    if isinstance(policy, Exponential):
        return timedelta(microseconds=floor(draw * microseconds(bound)))
    return bound


def describe(policy: RetryPolicy) -> dict[str, Any]:
    """Return the policy as JSON values, times in whole microseconds."""
    match policy:
        case Exponential(base=base, cap=cap):
            return {"policy": "exponential", "base_us": microseconds(base), "cap_us": microseconds(cap)}
        case Constant(delay=delay):
            return {"policy": "constant", "delay_us": microseconds(delay)}
        case Delays(delays=delays):
            return {"policy": "delays", "delays_us": [microseconds(delay) for delay in delays]}
        case _:
            assert_never(policy)


def restore(data: Mapping[str, Any]) -> RetryPolicy:
    """Return the policy that ``describe`` wrote.

    Raises InvalidInput for an unknown policy.
    """
    match data:
        case {"policy": "exponential", "base_us": int(base), "cap_us": int(cap)}:
            return Exponential(base * _MICROSECOND, cap * _MICROSECOND)
        case {"policy": "constant", "delay_us": int(delay)}:
            return Constant(delay * _MICROSECOND)
        case {"policy": "delays", "delays_us": list(delays)}:
            return Delays(tuple(delay * _MICROSECOND for delay in delays))
        case _:
            raise InvalidInput("retry", "must be an exponential, constant or delays policy")
