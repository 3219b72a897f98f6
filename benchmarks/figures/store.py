"""How fast the job store alone drains no-op jobs: claims and reports overlapped on two connections."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import uvloop
from ground.bench import Bench, Outcome
from ground.filling import fill, settle
from ground.numbers import median
from ground.processes import QUEUE

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.application.ports.job_store import ClaimedJob, ClaimRequest
from fencepost.domain.commands import HandlerTimes, Origin, Succeed
from fencepost.domain.vocabulary import Verdict

JOBS, BATCH = 100_000, 500
WORKER = Origin("worker:bench", build="bench")


def store(bench: Bench) -> Outcome:
    """Measure jobs per second, and the CPU of this side."""
    jobs, rates, used, floors = bench.options.jobs or JOBS, [], [], []
    for _ in bench.runs():
        floors.append(bench.floor.drained(jobs))
        with bench.database() as dsn:
            fill(dsn, jobs)
            settle(dsn)
            seconds, cpu = uvloop.run(_drained(dsn, jobs))
        rates.append(jobs / seconds)
        used.append(cpu / jobs * 1e6)
    return Outcome(
        value=median(rates),
        unit="jobs/s",
        floor=median(floors),
        details={"cpu_us": median(used), "jobs": jobs, "batch": BATCH, "runs": rates, "floors": floors},
    )


async def _drained(dsn: str, jobs: int) -> tuple[float, float]:
    """Claim, pretend to run, report; and return the seconds by the clock and of CPU."""
    database = Database(dsn, pool_size=2)
    await PostgresQueueStore(database).register([QUEUE])
    job_store = PostgresJobStore(database)
    ready: asyncio.Queue[list[ClaimedJob]] = asyncio.Queue(2)
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(_claim(job_store, jobs, ready), _report(job_store, jobs, ready))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await database.close()
    return wall, cpu


async def _claim(job_store: PostgresJobStore, jobs: int, ready: asyncio.Queue[list[ClaimedJob]]) -> None:
    claimed = 0
    while claimed < jobs:
        request = ClaimRequest(
            queue=QUEUE, types=frozenset({"noop"}), limit=BATCH, claim_id=str(uuid4()), origin=WORKER
        )
        answer = await job_store.claim(request)
        claimed += len(answer.jobs)
        await ready.put(list(answer.jobs))


async def _report(job_store: PostgresJobStore, jobs: int, ready: asyncio.Queue[list[ClaimedJob]]) -> None:
    reported = 0
    while reported < jobs:
        times = HandlerTimes.of(datetime.now(UTC), timedelta(microseconds=10))
        reports = [Succeed(token=job.token, origin=WORKER, times=times) for job in await ready.get()]
        verdicts = await job_store.report(reports)
        assert all(verdict is Verdict.ACCEPTED for verdict in verdicts)
        reported += len(verdicts)
