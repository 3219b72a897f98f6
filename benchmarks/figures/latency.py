"""How long an idle system takes from the submit's commit to the handler's start, and how late delayed jobs are."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

import uvloop
from ground.bench import Bench, Outcome
from ground.draining import until_ended
from ground.filling import request
from ground.history import percentiles, ways
from ground.numbers import median
from ground.processes import until_idle, worker

from fencepost import Fencepost

JOBS, WARM_UP = 400, 20
DELAYED, SOONEST, LATEST = 200, 5.0, 15.0
PAUSE = (0.02, 0.08)


def latency(bench: Bench) -> Outcome:
    """Submit one job at a time into silence, with irregular pauses, so that no rhythm helps or harms."""
    jobs, started, claimed = bench.options.jobs or JOBS, [], []
    for run in bench.runs():
        with bench.database() as dsn, worker(dsn, 10) as process:
            until_idle(dsn, process)
            uvloop.run(_trickle(dsn, jobs, random.Random(run)))
            until_ended(dsn, process)
            found = ways(dsn, WARM_UP)
        started.append(percentiles([way.to_start for way in found]))
        claimed.append(percentiles([way.to_claim for way in found]))
    return Outcome(
        value=median(run["p50"] for run in started),
        unit="ms",
        details={
            "p99": median(run["p99"] for run in started),
            "jobs": jobs,
            "submit_to_start": started,
            "submit_to_claim": claimed,
        },
    )


def delayed(bench: Bench) -> Outcome:
    """Submit jobs that are due at random moments, and see how late their handlers start."""
    jobs, late = bench.options.jobs or DELAYED, []
    for run in bench.runs():
        with bench.database() as dsn, worker(dsn, 100) as process:
            until_idle(dsn, process)
            uvloop.run(_submit_delayed(dsn, jobs, random.Random(run)))
            until_ended(dsn, process)
            found = ways(dsn, 0)
        late.append(percentiles([way.late for way in found]))
    return Outcome(
        value=median(run["p99"] for run in late),
        unit="ms",
        details={"p50": median(run["p50"] for run in late), "jobs": jobs, "lateness": late},
    )


async def _trickle(dsn: str, jobs: int, chance: random.Random) -> None:
    async with Fencepost(dsn) as app:
        for number in range(jobs + WARM_UP):
            await app.submit_many([request(number)])
            await asyncio.sleep(chance.uniform(*PAUSE))


async def _submit_delayed(dsn: str, jobs: int, chance: random.Random) -> None:
    async with Fencepost(dsn) as app:
        now = datetime.now(UTC)
        due = [now + timedelta(seconds=chance.uniform(SOONEST, LATEST)) for _ in range(jobs)]
        await app.submit_many([request(number, run_at=moment) for number, moment in enumerate(due)])
