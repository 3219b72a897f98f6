"""How many no-op jobs one worker process drains a second, history on, durable commits.

    python benchmarks/drain.py [jobs] [slots] [runs]

The rate is taken from the history: from the first ``claimed`` to the last ``succeeded``. The checker judges the history
afterwards. Prints one line of JSON.
"""

import asyncio
import json
import statistics
import sys
import time

from ground import ask, database, worker

from fencepost import Fencepost
from fencepost.application.submitting import SubmitRequest
from fencepost.application.verifying import verify
from fencepost.entrypoints.container import assemble, closed, opened
from fencepost.entrypoints.settings import load

BATCH = 5_000
RATE = """
SELECT extract(epoch FROM max(at) FILTER (WHERE name = 'succeeded') - min(at) FILTER (WHERE name = 'claimed'))
FROM fencepost.job_events WHERE position > {after}
"""


async def submit(dsn: str, jobs: int) -> None:
    """Submit so many jobs and leave."""
    async with Fencepost(dsn) as app:
        for start in range(0, jobs, BATCH):
            numbers = range(start, min(start + BATCH, jobs))
            requests = [SubmitRequest(type="noop", queue="bench", payload={"number": n}) for n in numbers]
            await app.submit_many(requests)


async def violations(dsn: str) -> int:
    """Return how many promises the history breaks."""
    container = await opened(assemble(load(), dsn))
    try:
        return len((await verify(container.event_log())).violations)
    finally:
        await closed(container)


def drained(dsn: str, jobs: int, slots: int) -> float:
    """Submit, drain and return jobs per second."""
    after = ask(dsn, "SELECT coalesce(max(position), 0) FROM fencepost.job_events")
    asyncio.run(submit(dsn, jobs))
    with worker(dsn, slots):
        while ask(dsn, "SELECT EXISTS (SELECT FROM fencepost.jobs WHERE state IN ('pending', 'running'))"):
            time.sleep(0.2)
    return jobs / float(ask(dsn, RATE.format(after=after)))


def main(jobs: int = 100_000, slots: int = 1_000, runs: int = 5) -> None:
    """Measure and print."""
    with database() as dsn:
        rates = [drained(dsn, jobs, slots) for _ in range(runs)]
        broken = asyncio.run(violations(dsn))
    figure = {"figure": "drain", "value": round(statistics.median(rates)), "unit": "jobs/s"}
    print(json.dumps({**figure, "runs": [round(rate) for rate in rates], "jobs": jobs, "violations": broken}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
