"""Medians, percentiles and how numbers are printed."""

import statistics
from collections.abc import Iterable

from fencepost.entrypoints.bench.numbers import percentile, rounded

__all__ = ["median", "percentile", "ratio", "rounded"]


def median(values: Iterable[float | None]) -> float | None:
    """Return the median of what is there, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratio(value: float | None, base: float | None) -> float | None:
    """Return a quotient, or None where either is missing."""
    return None if value is None or not base else value / base
