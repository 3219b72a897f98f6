"""No-op jobs that one worker process drains, and the CPU that takes: one measurement, two figures."""

from attrs import frozen
from ground.bench import Bench, Outcome
from ground.draining import Drained, drained
from ground.numbers import median

JOBS = 200_000


@frozen
class Run:
    """One drain, beside the floor of the same moment."""

    drained: Drained
    floor: float | None


def drain(bench: Bench) -> Outcome:
    """Measure jobs per second."""
    runs = _series(bench)
    return Outcome(
        value=median(run.drained.per_second for run in runs),
        unit="jobs/s",
        floor=median(run.floor for run in runs),
        details={
            "jobs": _jobs(bench),
            "runs": [run.drained.per_second for run in runs],
            "floors": [run.floor for run in runs],
        },
    )


def cpu(bench: Bench) -> Outcome:
    """Measure the CPU of worker and server per job."""
    used = [run.drained for run in _series(bench)]
    return Outcome(
        value=median(run.worker_us + run.server_us for run in used),
        unit="us/job",
        details={
            "worker_us": median(run.worker_us for run in used),
            "server_us": median(run.server_us for run in used),
            "jobs": _jobs(bench),
            "runs": [run.worker_us + run.server_us for run in used],
        },
    )


def _series(bench: Bench) -> list[Run]:
    return bench.once("drain", lambda: [_run(bench) for _ in bench.runs()])


def _run(bench: Bench) -> Run:
    floor = bench.floor.drained(_jobs(bench))
    with bench.database() as dsn:
        return Run(drained(dsn, _jobs(bench)), floor)


def _jobs(bench: Bench) -> int:
    return bench.options.jobs or JOBS
