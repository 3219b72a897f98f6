"""What to measure, how much of it, and for how long at most."""

import difflib
from collections.abc import Sequence

from attrs import frozen

from ...domain.errors import InvalidInput
from ...domain.values import check_integer

FIGURES = ("submit", "drain", "single", "latency")
JOBS, FEWEST, MOST = 100_000, 100, 5_000_000
SECONDS, LONGEST = 6, 3_600


@frozen(kw_only=True)
class Plan:
    """``jobs`` are submitted and drained; none of the figures takes much longer than ``seconds``."""

    figures: Sequence[str] = FIGURES
    jobs: int = JOBS
    seconds: int = SECONDS


def planned(figures: str | None, jobs: int, seconds: int) -> Plan:
    """Check what was asked for; ``figures`` are names with commas in between, None means all. Raises InvalidInput."""
    return Plan(
        figures=FIGURES if figures is None else _named(figures),
        jobs=check_integer("jobs", jobs, FEWEST, MOST),
        seconds=check_integer("seconds", seconds, 1, LONGEST),
    )


def _named(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in FIGURES:
            nearest = difflib.get_close_matches(name, FIGURES, 1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            raise InvalidInput("figures", f"must be of {', '.join(FIGURES)}, not {name!r}{hint}")
    return tuple(name for name in FIGURES if name in names)
