"""Medians, percentiles and how numbers are printed."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any


def median(values: Iterable[float | None]) -> float | None:
    """Return the median of what is there, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that so many percent do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, math.ceil(percent / 100 * len(ranked)) - 1))]


def ratio(value: float | None, base: float | None) -> float | None:
    """Return a quotient, or None where either is missing."""
    return None if value is None or not base else value / base


def rounded(value: Any) -> Any:
    """Round every number to what can be read: three decimals below 100, none above; NaN becomes None."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return round(value) if abs(value) >= 100 else round(value, 3)
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value
