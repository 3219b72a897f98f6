"""A worker in this process over a real database, in real time."""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Self

import psycopg

from fencepost.adapters.executors.coroutines import CoroutineExecutor
from fencepost.adapters.executors.threads import ThreadExecutor
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.frontier import SHARE
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.adapters.postgres.submitter import PostgresSubmitter
from fencepost.adapters.postgres.transactions import PostgresTransactions
from fencepost.adapters.postgres.wakeups import PostgresWakeups
from fencepost.adapters.system.background import LoopThread
from fencepost.adapters.system.identity import new_claim_id, new_worker_id
from fencepost.adapters.system.local_time import SystemTime
from fencepost.application.handlers import Handler, Handlers
from fencepost.application.ports.submitter import Submission
from fencepost.application.worker.runtime import Worker, WorkerPorts
from fencepost.application.worker.settings import WorkerSettings
from fencepost.domain.commands import Origin, Submit
from fencepost.domain.job import Specification

WORKER = "fencepost test worker"


class LiveWorker:
    """Used as an asynchronous context manager: runs inside, is drained at the end."""

    def __init__(
        self,
        dsn: str,
        call: Callable[..., Any],
        slots: int = 20,
        *,
        full_scans: float = SHARE,
        poll: timedelta = timedelta(seconds=1),
    ) -> None:
        """Run jobs of type ``work`` with this coroutine function."""
        self.claims, self.reports, self.heartbeats = (
            Database(dsn, pool_size=1, application_name=WORKER) for _ in range(3)
        )
        self.general = Database(dsn, application_name=WORKER)
        handlers = Handlers()
        handlers.add(Handler("work", "default", call))
        self._background, self._transactions = LoopThread(), PostgresTransactions(dsn, self.general)
        ports = WorkerPorts(
            claims=PostgresJobStore(self.claims, full_scans=full_scans),
            reports=PostgresJobStore(self.reports),
            heartbeats=PostgresJobStore(self.heartbeats),
            queues=PostgresQueueStore(self.claims),
            wakeups=PostgresWakeups(self.claims, types=handlers.types),
            transactions=self._transactions,
            executors={"async": CoroutineExecutor(), "thread": ThreadExecutor()},
            background=self._background,
            time=SystemTime(),
            draw=random.random,
            new_claim_id=new_claim_id,
        )
        settings = WorkerSettings(
            worker=new_worker_id(),
            queues={"default": slots},
            drain_grace=timedelta(seconds=10),
            fallback_poll=poll,
        )
        self.worker = Worker(settings, handlers, ports)
        self._running: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        """Start."""
        self._running = asyncio.ensure_future(self.worker.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Drain and disconnect, each database on the loop it was used on."""
        assert self._running is not None
        self.worker.stop()
        try:
            await self._running
        finally:
            await self._background.call(self.heartbeats.close)
            self._background.close()
            await self._transactions.close()
            for database in (self.claims, self.reports, self.general):
                await database.close()


async def submit(dsn: str, times: int, **specification: Any) -> list[int]:
    """Submit jobs of type ``work`` and return their ids."""
    database = Database(dsn)
    command = Submit(
        origin=Origin("user:test"), specification=Specification(**{"type": "work", **specification})
    )
    answers = await PostgresSubmitter(database).submit([Submission(command)] * times)
    await database.close()
    return [answer.job_id for answer in answers]


async def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    """Run one query on a connection of its own."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        return await (await connection.execute(query.encode())).fetchall()


async def finished(dsn: str) -> None:
    """Wait until no job is pending or running."""
    await counted(dsn, "SELECT count(*) FROM fencepost.jobs WHERE state IN ('pending', 'running')", 0)


async def counted(dsn: str, query: str, expected: int, within: float = 60.0) -> None:
    """Wait until a query that counts gives this number."""
    async with asyncio.timeout(within):
        while (await rows(dsn, query))[0][0] != expected:  # noqa: ASYNC110  another process's rows ring no bell
            await asyncio.sleep(0.03)
