"""How many jobs one Python process submits a second through the library's bulk call, events included."""

import asyncio
import time
from collections.abc import Iterable

import uvloop
from ground.bench import Bench, Outcome
from ground.filling import settle
from ground.numbers import median
from ground.processes import QUEUE

from fencepost import Context, Fencepost

JOBS, CALL = 200_000, 10_000
WARM_UP = 100
AT_ONCE = (1, 2)
"""Calls that are on their way at the same time, each on a connection of its own."""


def bulk(bench: Bench) -> Outcome:
    """Measure from the first request's making to the last call's return, one call after the other; and two at once."""
    jobs = bench.options.jobs or JOBS
    rates: dict[int, list[float]] = {at_once: [] for at_once in AT_ONCE}
    floors = []
    for at_once in bench.turns(AT_ONCE):
        floors.append(bench.floor.inserted(jobs))
        with bench.database() as dsn:
            settle(dsn)
            rates[at_once].append(jobs / uvloop.run(_submitted(dsn, jobs, at_once)))
    return Outcome(
        value=median(rates[1]),
        unit="jobs/s",
        floor=median(floors),
        details={
            "jobs": jobs,
            "jobs_per_call": CALL,
            "runs": rates[1],
            "floors": floors,
            "two_at_once_per_s": median(rates[2]),
            "two_at_once": rates[2],
        },
    )


async def _submitted(dsn: str, jobs: int, at_once: int) -> float:
    """Return the seconds it took until all were accepted."""
    async with Fencepost(dsn) as app:

        @app.job(queue=QUEUE)
        async def noop(ctx: Context, number: int) -> None:
            """Do nothing."""

        async def submit(calls: Iterable[range]) -> None:
            for numbers in calls:
                await app.submit_many(noop.requests({"number": number} for number in numbers))

        await submit([range(WARM_UP)] * at_once)
        began = time.perf_counter()
        calls = iter([range(start, min(start + CALL, jobs)) for start in range(0, jobs, CALL)])
        await asyncio.gather(*(submit(calls) for _ in range(at_once)))
        return time.perf_counter() - began
