"""How many jobs one Python process submits a second through the library's bulk call, events included."""

import time

import uvloop
from ground.bench import Bench, Outcome
from ground.filling import request, settle
from ground.numbers import median

from fencepost import Fencepost

JOBS, CALL = 200_000, 10_000
WARM_UP = 100


def bulk(bench: Bench) -> Outcome:
    """Measure from the first request's making to the last call's return."""
    jobs, rates, floors = bench.options.jobs or JOBS, [], []
    for _ in bench.runs():
        floors.append(bench.floor.inserted(jobs))
        with bench.database() as dsn:
            settle(dsn)
            rates.append(jobs / uvloop.run(_submitted(dsn, jobs)))
    return Outcome(
        value=median(rates),
        unit="jobs/s",
        floor=median(floors),
        details={"jobs": jobs, "jobs_per_call": CALL, "runs": rates, "floors": floors},
    )


async def _submitted(dsn: str, jobs: int) -> float:
    """Return the seconds it took until all were accepted."""
    async with Fencepost(dsn) as app:
        await app.submit_many([request(number) for number in range(WARM_UP)])
        began = time.perf_counter()
        for start in range(0, jobs, CALL):
            await app.submit_many([request(number) for number in range(start, min(start + CALL, jobs))])
        return time.perf_counter() - began
