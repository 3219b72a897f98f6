"""How long an idle system takes from the submit's commit to the start of the handler's attempt.

    python benchmarks/latency.py [jobs]

One worker process, one submitter, one job at a time, irregular pauses between them. Both moments are the database's:
the ``at`` of ``enqueued`` and of ``claimed``, and for the whole way the handler's start as the worker told it (same
machine, same clock). Prints one line of JSON.
"""

import asyncio
import json
import random
import statistics
import sys

import psycopg
from ground import database, worker

from fencepost import Fencepost
from fencepost.application.submitting import SubmitRequest

WAYS = """
SELECT extract(epoch FROM claimed.at - enqueued.at) * 1000, extract(epoch FROM ended.started_at - enqueued.at) * 1000
FROM fencepost.job_events enqueued
JOIN fencepost.job_events claimed ON claimed.job_id = enqueued.job_id AND claimed.name = 'claimed'
JOIN fencepost.job_events ended ON ended.job_id = enqueued.job_id AND ended.name = 'succeeded'
WHERE enqueued.name = 'enqueued' AND enqueued.job_id > {warm}
"""
WARM_UP = 20


async def trickle(dsn: str, jobs: int) -> None:
    """Submit one job at a time into silence."""
    pause = random.Random(1)
    async with Fencepost(dsn) as app:
        for number in range(jobs + WARM_UP):
            await app.submit_many([SubmitRequest(type="noop", queue="bench", payload={"number": number})])
            await asyncio.sleep(pause.uniform(0.02, 0.08))
        await asyncio.sleep(1)


def percentiles(values: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile, in milliseconds."""
    cuts = statistics.quantiles(values, n=100)
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2)}


def main(jobs: int = 1_000) -> None:
    """Measure and print."""
    with database() as dsn, worker(dsn, 10):
        asyncio.run(trickle(dsn, jobs))
        with psycopg.connect(dsn) as connection:
            rows = connection.execute(WAYS.format(warm=WARM_UP)).fetchall()
    claimed, started = ([float(row[column]) for row in rows] for column in (0, 1))
    figure = {"figure": "latency", "value": percentiles(started)["p50"], "unit": "ms", "jobs": len(rows)}
    print(
        json.dumps(
            {**figure, "submit_to_start": percentiles(started), "submit_to_claim": percentiles(claimed)}
        )
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
