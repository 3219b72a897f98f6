"""How long it takes until the running jobs of a killed worker have all started again in another one."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from attrs import frozen
from ground.asking import ask, until
from ground.bench import Bench, Outcome
from ground.filling import submit
from ground.numbers import median
from ground.processes import command, until_idle, worker

JOBS, RUNS = 50, 3
LONG = 3_600.0
"""Seconds that a handler would sleep in its first attempt."""
RUNNING = "(SELECT count(*) FILTER (WHERE state = 'running') = {jobs} FROM fencepost.jobs)"
ENDED = "(SELECT count(*) FILTER (WHERE state = 'succeeded') = {jobs} FROM fencepost.jobs)"
LAST_START = "SELECT max(started_at) - %s FROM fencepost.job_events WHERE name = 'succeeded' AND attempt = 2"


@frozen
class Way:
    """Settings under which a worker is lost: what the jobs are given, and the processes; see the guide to operating."""

    jobs: Mapping[str, Any]
    processes: Mapping[str, str]


DEFAULTS = Way({}, {})
FAST = Way({"lease": timedelta(seconds=1)}, {"reap_every": "100ms"})


def recovery(bench: Bench) -> Outcome:
    """Measure with the defaults; the fastest settings stand beside it."""
    jobs = bench.options.jobs or JOBS
    took: dict[str, list[float]] = {"defaults": [], "fast": []}
    for _ in bench.runs(RUNS):
        took["fast"].append(_recovered(bench, FAST, jobs))
        took["defaults"].append(_recovered(bench, DEFAULTS, jobs))
    return Outcome(
        value=median(took["defaults"]),
        unit="s",
        details={
            "fast_s": median(took["fast"]),
            "fast_settings": {**FAST.processes, "lease": "1s"},
            "jobs": jobs,
            "runs": took,
        },
    )


def _recovered(bench: Bench, way: Way, jobs: int) -> float:
    """Return the seconds from the kill to the last start."""
    with ExitStack() as stack:
        dsn = stack.enter_context(bench.database())
        stack.enter_context(command(dsn, "scheduler", settings=way.processes))
        lost = stack.enter_context(worker(dsn, jobs, app="sleeper:app", settings=way.processes))
        submit(dsn, jobs, type="nap", payload={"seconds": LONG}, **way.jobs)
        until(dsn, RUNNING.format(jobs=jobs), alive=lost.alive)
        heir = stack.enter_context(worker(dsn, jobs, app="sleeper:app", settings=way.processes))
        until_idle(dsn, heir)
        killed = ask(dsn, "SELECT clock_timestamp()")
        lost.kill()
        until(dsn, ENDED.format(jobs=jobs), alive=heir.alive)
        took: timedelta = ask(dsn, LAST_START, [killed])
    return took.total_seconds()
