"""What a run of the benchmarks was asked for: from flags, else from the environment, else each figure's defaults."""

import argparse
import os
from collections.abc import Sequence

from attrs import frozen

NUMBERS = {
    "runs": "interleaved runs, of which the median counts",
    "jobs": "jobs that are measured in each run",
    "seconds": "length of what is measured by time",
    "size": "jobs that are in the tables beside those measured",
}


@frozen(kw_only=True)
class Options:
    """Everything is None where the figure's own default holds."""

    figures: Sequence[str] = ()
    runs: int | None = None
    jobs: int | None = None
    seconds: float | None = None
    size: int | None = None


def parsed(arguments: Sequence[str], known: Sequence[str]) -> Options:
    """Read flags and environment; leaves the program for a figure that does not exist."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure; one line of JSON per figure.")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(known)}")
    for name, text in NUMBERS.items():
        kind = float if name == "seconds" else int
        default = os.environ.get(name.upper())
        parser.add_argument(f"--{name}", type=kind, default=kind(default) if default else None, help=text)
    given = parser.parse_args(arguments)
    wanted = given.figures or [os.environ.get("FIGURE", "")]
    given.figures = [name for part in wanted for name in part.replace(",", " ").split()] or list(known)
    if unknown := sorted(set(given.figures) - set(known)):
        parser.error(f"no such figure: {', '.join(unknown)}; there are {', '.join(known)}")
    return Options(**vars(given))
