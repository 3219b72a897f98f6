"""Workers' claims over one database: when their full scans come, and what time it is, is up to the test."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
from attrs import define, field

from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.adapters.postgres.database import Database, RepeatingDatabase
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.adapters.postgres.submitter import PostgresSubmitter
from fencepost.application.ports.job_store import Claimed, ClaimRequest
from fencepost.application.ports.submitter import Submission
from fencepost.domain.commands import Operation
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import Verdict

from .rig import QUEUE, WORKER, submission
from .stores import Clock

SECOND = timedelta(seconds=1)
RARELY = 1e-9
"""So small a share of the time that full scans come only when the test moves their clock."""
AGES = 1e12
"""Seconds after which the next full scan is due for certain."""


@define
class Seconds:
    """A monotonic clock in the test's hands."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


class Claimer:
    """One worker's claims; the very first of them is a full scan."""

    def __init__(self, database: Database, share: float = RARELY) -> None:
        """Let full scans have this share of the time on a clock that only the test moves."""
        self.seconds = Seconds()
        self.store = PostgresJobStore(database, full_scans=share, monotonic=self.seconds)
        self.tokens: list[Token] = []

    async def ask(self, limit: int = 10) -> Claimed:
        """Claim once and return the whole answer."""
        request = ClaimRequest(
            queue=QUEUE, types=frozenset({"work"}), limit=limit, claim_id=str(uuid4()), origin=WORKER
        )
        claimed = await self.store.claim(request)
        self.tokens += [job.token for job in claimed.jobs]
        return claimed

    async def claim(self, limit: int = 10) -> list[int]:
        """Claim from the frontier and return the jobs' ids, in claim order."""
        return [job.token.job_id for job in (await self.ask(limit)).jobs]

    async def full(self, limit: int = 10) -> list[int]:
        """Claim by a full scan: its time has come."""
        self.seconds.now += AGES
        return await self.claim(limit)


@define
class Arena:
    """A database, its clock, and whoever works on it."""

    dsn: str
    clock: Clock
    database: Database
    submitter: PostgresSubmitter = field(init=False)
    log: PostgresEventLog = field(init=False)
    queues: PostgresQueueStore = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Bring the ports."""
        self.submitter = PostgresSubmitter(self.database)
        self.log = PostgresEventLog(self.database)
        self.queues = PostgresQueueStore(self.database)

    async def claimer(self) -> Claimer:
        """A worker that has made its first claim, a full scan."""
        await self.queues.register([QUEUE])
        claimer = Claimer(self.database)
        await claimer.ask()
        return claimer

    async def submit(self, **fields: Any) -> int:
        """Submit one job and return its id."""
        [answer] = await self.submitter.submit([submission(**fields)])
        return answer.job_id

    async def operate(self, job_id: int, operation: Operation) -> None:
        """Apply an operation that is accepted."""
        [verdict] = await PostgresJobStore(self.database).operate([job_id], operation)
        assert verdict is Verdict.ACCEPTED

    async def pass_by(self, *claimers: Claimer) -> None:
        """Let time go by and each worker claim, so that their frontiers are past whatever is due; they find nothing."""
        self.clock.advance(SECOND)
        for claimer in claimers:
            assert await claimer.claim() == []
        self.clock.advance(SECOND)

    @contextmanager
    def late(self, *submissions: Submission) -> Iterator[list[int]]:
        """Submit now in a caller's transaction that commits at the end."""
        callers = PostgresCallersTransactions(clock=self.clock)
        with psycopg.connect(self.dsn) as connection:
            answers = callers.submit_in_sync(connection, submissions or [submission()])
            yield [answer.job_id for answer in answers]

    @contextmanager
    def held(self, job_ids: Sequence[int]) -> Iterator[None]:
        """Somebody else holds the jobs' row locks."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute(
                "SELECT FROM fencepost.jobs WHERE job_id = ANY (%s) FOR UPDATE", [list(job_ids)]
            )
            yield


@asynccontextmanager
async def arena_over(dsn: str, clock: Clock | None = None) -> AsyncIterator[Arena]:
    """Sessions as workers have them, over an emptied database; without a clock they go by its own."""
    database = RepeatingDatabase(dsn, clock=clock)
    try:
        yield Arena(dsn, clock or Clock(), database)
    finally:
        await database.close()
