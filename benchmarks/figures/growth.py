"""Time per job as jobs, workers and queues become ten times as many: nothing may grow faster than they do."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from attrs import frozen
from ground.bench import Bench, Outcome
from ground.draining import drained

JOBS, RUNS = 60_000, 3


@frozen
class Step:
    """One point of a curve."""

    axis: str
    times: int
    jobs: int
    workers: int = 1
    queues: int = 1


def growth(bench: Bench) -> Outcome:
    """Measure every step in each run; the value is the worst growth from one step to one ten times as large."""
    steps = _steps(bench.options.jobs or JOBS)
    times: dict[Step, list[float]] = {step: [] for step in steps}
    for _ in bench.runs(RUNS):
        for step in steps:
            with bench.database() as dsn:
                queues = [f"bench{number}" for number in range(step.queues)]
                found = drained(dsn, step.jobs, workers=step.workers, queues=queues)
                times[step].append(1e6 / found.per_second)
    curve = {step: median(found) for step, found in times.items()}
    return Outcome(value=max(_growth(curve)), unit="x time per job at 10 x", details={"curve": _rows(curve)})


def _steps(jobs: int) -> Sequence[Step]:
    return (
        *(Step("jobs", times, jobs * times // 10) for times in (1, 10, 100)),
        *(Step("workers", times, jobs, workers=times) for times in (1, 10)),
        *(Step("queues", times, jobs, queues=times) for times in (1, 10, 100)),
    )


def _growth(curve: dict[Step, float]) -> list[float]:
    at = {(step.axis, step.times): us for step, us in curve.items()}
    return [us / at[axis, times // 10] for (axis, times), us in at.items() if (axis, times // 10) in at]


def _rows(curve: dict[Step, float]) -> list[dict[str, Any]]:
    return [{"axis": step.axis, "x": step.times, "jobs": step.jobs, "us": us} for step, us in curve.items()]
