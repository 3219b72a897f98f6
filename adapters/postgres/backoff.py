"""The wait before a retry, in SQL: the very number that ``domain.retry.backoff`` gives, to the microsecond.

Powers of two scale a float exactly, and whole numbers below 2**53 are exact, so that the one rounding is that of the
multiplication with the draw, which IEEE 754 fixes.
"""

from ...domain.retry import EXPONENT_LIMIT, RETRY_DEFAULT, describe

MICROSECOND = "interval '1 microsecond'"
_LONGEST = describe(RETRY_DEFAULT)["cap_us"]


def backoff(job: str, draw: str) -> str:
    """Return the interval after one more failure of ``job``, whose ``failures`` does not count it yet.

    A policy that this version does not know waits like the default at its longest: one such job must not stop the
    batch it is in, reaper included.
    """
    policy, delays = f"{job}.retry", f"({job}.retry -> 'delays_us')"
    doubled = (
        f"{_number(policy, 'base_us')} * power(CAST(2 AS float8), least({job}.failures, {EXPONENT_LIMIT}))"
    )
    return (
        f"coalesce(CASE {policy} ->> 'policy'"
        f" WHEN 'exponential' THEN floor({draw} * least({_number(policy, 'cap_us')}, {doubled}))"
        f" WHEN 'constant' THEN {_number(policy, 'delay_us')}"
        f" WHEN 'delays' THEN CAST({delays} ->> least({job}.failures, jsonb_array_length({delays}) - 1) AS float8)"
        f" END, floor({draw} * {_LONGEST})) * {MICROSECOND}"
    )


def _number(policy: str, key: str) -> str:
    return f"CAST({policy} ->> '{key}' AS float8)"
