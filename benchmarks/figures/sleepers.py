"""A thousand jobs that sleep at the same time in one worker: how often it beats, and how much memory it takes."""

import time

from ground.asking import rows, until
from ground.bench import Bench, Outcome
from ground.filling import submit
from ground.numbers import median
from ground.proc import memory_mb
from ground.processes import Process, until_idle, worker

JOBS, RUNS, SECONDS = 1_000, 3, 60.0
LEASE_THIRD = 10.0
SOON = 0.25
RUNNING = "(SELECT count(*) FILTER (WHERE state = 'running') = {jobs} FROM fencepost.jobs)"
# A statement in a transaction of its own leaves its mark on all rows that it wrote.
WRITERS = "SELECT DISTINCT CAST(xmin AS text) FROM fencepost.jobs WHERE state = 'running' AND heartbeats > 0"


def sleepers(bench: Bench) -> Outcome:
    """Count the statements that wrote heartbeats, from the third of a lease after the last start on."""
    jobs, seconds = bench.options.jobs or JOBS, bench.options.seconds or SECONDS
    beats, memory, idle = [], [], []
    for _ in bench.runs(RUNS):
        with (
            bench.database() as dsn,
            worker(dsn, jobs, app="sleeper:app", settings={"drain_grace": "0s"}) as process,
        ):
            until_idle(dsn, process)
            idle.append(memory_mb(process.pid))
            submit(dsn, jobs, type="nap", payload={"seconds": 3_600.0})
            until(dsn, RUNNING.format(jobs=jobs), alive=process.alive)
            beats.append(_statements(dsn, process, seconds) * LEASE_THIRD / seconds)
            memory.append(memory_mb(process.pid, "VmHWM"))
    return Outcome(
        value=median(beats),
        unit="statements per lease third",
        details={
            "memory_mb": median(memory),
            "idle_mb": median(idle),
            "jobs": jobs,
            "seconds": seconds,
            "runs": beats,
            "memories_mb": memory,
        },
    )


def _statements(dsn: str, process: Process, seconds: float) -> int:
    """Return how many statements wrote within so many seconds."""
    time.sleep(LEASE_THIRD)
    before, seen = set(rows(dsn, WRITERS)), set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        process.alive()
        seen |= set(rows(dsn, WRITERS))
        time.sleep(SOON)
    return len(seen - before)
