"""Percentiles, and how numbers are printed."""

import math
from collections.abc import Sequence
from typing import Any


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that so many percent do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, math.ceil(percent / 100 * len(ranked)) - 1))]


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
