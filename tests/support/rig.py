"""All of the PostgreSQL adapter over one database, and what tests keep asking of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import psycopg

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.adapters.postgres.job_reader import PostgresJobReader
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.adapters.postgres.submitter import PostgresSubmitter
from fencepost.adapters.postgres.transactions import PostgresTransactions
from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.ports.submitter import Submission, SubmitKey, Submitted
from fencepost.domain.commands import Origin, Submit, Succeed
from fencepost.domain.job import Job, Specification
from fencepost.domain.token import Token

from .polling import eventually

USER = Origin("user:test", request_id="request-1", reason="a test", build="build-1")
WORKER = Origin("worker:test")
QUEUE = "default"


def submission(payload: str = "{}", *, key: SubmitKey | None = None, **fields: Any) -> Submission:
    """One job to submit; ``fields`` are those of the submission, the submit and the specification."""
    around = {name: fields.pop(name) for name in ("unique_key", "unique_for") if name in fields}
    when = {name: fields.pop(name) for name in ("run_at", "delay") if name in fields}
    specification = Specification(**{"type": "work", "queue": QUEUE, "payload": payload, **fields})
    return Submission(Submit(origin=USER, specification=specification, **when), key=key, **around)


def keyed(key: str, digest: str = "digest", **fields: Any) -> Submission:
    """One job to submit under a key."""
    return submission(key=SubmitKey("someone", "jobs.submit", key, digest), **fields)


class Rig:
    """The ports, ready to use."""

    def __init__(self, dsn: str, *, pool_size: int = 8) -> None:
        """Connect to nothing yet."""
        self.dsn = dsn
        self.database = Database(dsn, pool_size=pool_size)
        self.submitter = PostgresSubmitter(self.database)
        self.jobs = PostgresJobStore(self.database, full_scans=1)
        self.reader = PostgresJobReader(self.database)
        self.log = PostgresEventLog(self.database)
        self.queues = PostgresQueueStore(self.database)
        self.transactions = PostgresTransactions(dsn, self.database)

    async def close(self) -> None:
        """Leave every connection."""
        await self.transactions.close()
        await self.database.close()

    async def submit(self, *submissions: Submission) -> list[Submitted]:
        """Submit a batch."""
        return list(await self.submitter.submit(submissions))

    async def job(self, job_id: int) -> Job:
        """The row of a job that exists."""
        job = await self.reader.get(job_id)
        assert job is not None
        return job

    async def count(self) -> int:
        """How many jobs there are."""
        return await self.reader.count(JobFilter(), most=1_000_000)

    async def claim(self, limit: int = 1, queue: str = QUEUE) -> list[Token]:
        """Claim due jobs."""
        await self.queues.register([queue])
        request = ClaimRequest(
            queue=queue, types=frozenset({"work"}), limit=limit, claim_id=str(uuid4()), origin=WORKER
        )
        return [job.token for job in (await self.jobs.claim(request)).jobs]

    async def claimed(self) -> Token:
        """Submit and claim one job."""
        await self.submit(submission())
        [token] = await self.claim()
        return token

    async def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement beside the adapter."""
        async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            cursor = await connection.execute(sql.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def waiting(self, number: int = 1) -> None:
        """Return when so many sessions wait for a lock."""
        await waiting(self.dsn, number)


async def waiting(dsn: str, number: int = 1) -> None:
    """Return when so many sessions of a database wait for a lock."""

    def blocked() -> bool:
        with psycopg.connect(dsn) as connection:
            [found] = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND datname = current_database()"
            ).fetchone() or (0,)
        return bool(found >= number)

    await asyncio.to_thread(eventually, blocked)


@asynccontextmanager
async def rig_over(dsn: str) -> AsyncIterator[Rig]:
    """The adapter over a database, closed at the end."""
    rig = Rig(dsn)
    try:
        yield rig
    finally:
        await rig.close()


def success(token: Token, result: str | None = '{"done":true}') -> Callable[[], Succeed]:
    """The report of a handler that returned."""
    return lambda: Succeed(origin=WORKER, token=token, result=result)
