"""How fast the job store alone drains no-op jobs: claims and reports overlapped on two connections.

    python benchmarks/store.py postgresql://… [jobs] [batch]

Makes and drops a schema of its own. Prints one line of JSON.
"""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import uvloop

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.migrations import migrate
from fencepost.application.ports.job_store import ClaimedJob, ClaimRequest
from fencepost.domain.commands import HandlerTimes, Origin, Succeed
from fencepost.domain.vocabulary import Verdict

SCHEMA = "fencepost_bench_store"
WORKER = Origin("worker:bench", build="bench")
FILL = """
WITH job AS (
    INSERT INTO {schema}.jobs
        (type, queue, priority, run_at, max_attempts, timeout, lease, submitted_at, retry, payload)
    SELECT 'noop', 'default', 5, clock_timestamp(), 5, '1 h', '30 s', clock_timestamp(),
        '{{"policy": "exponential", "base_us": 10000000, "cap_us": 900000000}}',
        '{{"user_id": 123, "email": "a@example.com"}}'
    FROM generate_series(1, %s) RETURNING *
)
INSERT INTO {schema}.job_events (job_id, seq, attempt, failures, name, state, at, run_at, actor, data, payload)
SELECT job_id, 1, 0, 0, 'enqueued', 'pending', submitted_at, run_at, 'api:bench',
    jsonb_build_object('type', type, 'queue', queue), payload FROM job
"""


def fill(dsn: str, jobs: int) -> None:
    """Make a schema with so many pending jobs."""
    migrate(dsn, SCHEMA)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"INSERT INTO {SCHEMA}.queues VALUES ('default')")
        connection.execute(FILL.format(schema=SCHEMA), [jobs])
        connection.execute(f"VACUUM ANALYZE {SCHEMA}.jobs, {SCHEMA}.job_events")
        connection.execute("CHECKPOINT")


async def drain(dsn: str, jobs: int, batch: int) -> dict[str, float]:
    """Claim, pretend to run, report; and return the rates."""
    database = Database(dsn, SCHEMA, pool_size=2)
    store = PostgresJobStore(database)
    ready: asyncio.Queue[list[ClaimedJob]] = asyncio.Queue(2)

    async def claim() -> None:
        claimed = 0
        while claimed < jobs:
            request = ClaimRequest(
                queue="default", types=frozenset({"noop"}), limit=batch, claim_id=str(uuid4()), origin=WORKER
            )
            answer = await store.claim(request)
            claimed += len(answer.jobs)
            await ready.put(list(answer.jobs))

    async def report() -> None:
        reported = 0
        while reported < jobs:
            times = HandlerTimes(datetime.now(UTC), timedelta(microseconds=10))
            reports = [Succeed(token=job.token, origin=WORKER, times=times) for job in await ready.get()]
            verdicts = await store.report(reports)
            assert all(verdict is Verdict.ACCEPTED for verdict in verdicts)
            reported += len(verdicts)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(claim(), report())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await database.close()
    return {"jobs_per_s": round(jobs / wall), "cpu_us_per_job": round(cpu / jobs * 1e6, 1)}


def main() -> None:
    """Run once."""
    dsn = sys.argv[1]
    jobs, batch = map(int, (*sys.argv[2:], *(100_000, 500)[len(sys.argv) - 2 :]))
    try:
        fill(dsn, jobs)
        rates = uvloop.run(drain(dsn, jobs, batch))
        print(json.dumps({"benchmark": "store", "jobs": jobs, "batch": batch, **rates}))
    finally:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


if __name__ == "__main__":
    main()
