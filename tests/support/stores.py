"""One set of ports per technology, and both in lockstep: the same call to each, the same answer from each."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

import psycopg
from attrs import define, field, frozen

from fencepost.adapters.memory.backfill_store import MemoryBackfillStore
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.event_log import MemoryEventLog
from fencepost.adapters.memory.firing_store import MemoryFiringStore
from fencepost.adapters.memory.job_reader import MemoryJobReader
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.schedule_store import MemoryScheduleStore
from fencepost.adapters.memory.submitter import MemorySubmitter
from fencepost.application.ports.backfill_store import BackfillRounds, BackfillStore
from fencepost.application.ports.event_log import EventLog, LogFilter
from fencepost.application.ports.job_reader import JobFilter, JobReader
from fencepost.application.ports.job_store import Claimed, JobStore
from fencepost.application.ports.queue_store import QueueStore
from fencepost.application.ports.schedule_store import FiringStore, ScheduleReader, ScheduleStore
from fencepost.application.ports.submitter import Submitter
from fencepost.domain.errors import FencepostError
from fencepost.domain.event import ControlEvent, JobEvent
from fencepost.domain.job import Job

T = TypeVar("T")
START = datetime(2030, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
MANY = 1_000_000


@define
class Clock:
    """A clock that moves when it is told to."""

    now: datetime = START

    def __call__(self) -> datetime:
        """Read it."""
        return self.now

    def advance(self, passed: timedelta) -> None:
        """Move it."""
        self.now += passed


class BackfillPlane(BackfillStore, BackfillRounds, Protocol):
    """Both ports of backfills."""


@frozen
class Stores:
    """The ports of one technology over one database."""

    name: str
    jobs: JobStore
    submitter: Submitter
    reader: JobReader
    log: EventLog
    queues: QueueStore
    schedules: ScheduleStore
    schedule_reader: ScheduleReader
    firings: FiringStore
    backfills: BackfillPlane
    held_by_another: Callable[[int], AbstractAsyncContextManager[None]]
    """Somebody else holds a job's row lock."""
    alter: Callable[[Iterable[int], dict[str, Any]], Awaitable[None]]
    """Set fields of rows behind everybody's back, to stand in for a history too long to live through."""


def memory_stores(clock: Clock) -> Stores:
    """The ports over a fresh database in memory."""
    database = MemoryDatabase(clock)
    schedules = MemoryScheduleStore(database)

    @asynccontextmanager
    async def held(job_id: int) -> AsyncIterator[None]:
        with database.locked(job_id):
            yield

    async def alter(job_ids: Iterable[int], fields: dict[str, Any]) -> None:
        from attrs import evolve as changed

        for job_id in job_ids:
            database.jobs[job_id] = changed(database.jobs[job_id], **fields)

    return Stores(
        "memory",
        MemoryJobStore(database),
        MemorySubmitter(database),
        MemoryJobReader(database),
        MemoryEventLog(database),
        MemoryQueueStore(database),
        schedules,
        schedules,
        MemoryFiringStore(database),
        MemoryBackfillStore(database),
        held,
        alter,
    )


@asynccontextmanager
async def postgres_stores(dsn: str, clock: Clock) -> AsyncIterator[Stores]:
    """The ports over a migrated PostgreSQL database."""
    from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
    from fencepost.adapters.postgres.database import Database
    from fencepost.adapters.postgres.event_log import PostgresEventLog
    from fencepost.adapters.postgres.firing_store import PostgresFiringStore
    from fencepost.adapters.postgres.job_reader import PostgresJobReader
    from fencepost.adapters.postgres.job_store import PostgresJobStore
    from fencepost.adapters.postgres.queue_store import PostgresQueueStore
    from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
    from fencepost.adapters.postgres.submitter import PostgresSubmitter

    database = Database(dsn, clock=clock)
    await database.open()
    schedules = PostgresScheduleStore(database)
    try:
        yield Stores(
            f"PostgreSQL {await _version(dsn)}",
            PostgresJobStore(database, full_scans=1),
            PostgresSubmitter(database),
            PostgresJobReader(database),
            PostgresEventLog(database),
            PostgresQueueStore(database),
            schedules,
            schedules,
            PostgresFiringStore(database),
            PostgresBackfillStore(database),
            lambda job_id: _held(dsn, job_id),
            lambda job_ids, fields: _alter(dsn, job_ids, fields),
        )
    finally:
        await database.close()


async def _version(dsn: str) -> str:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        return str(connection.info.server_version // 10_000)


@asynccontextmanager
async def _held(dsn: str, job_id: int) -> AsyncIterator[None]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute("SELECT FROM fencepost.jobs WHERE job_id = %s FOR UPDATE", [job_id])
        yield
        await connection.rollback()


async def _alter(dsn: str, job_ids: Iterable[int], fields: dict[str, Any]) -> None:
    from psycopg import sql

    settings = sql.SQL(", ").join(
        sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in fields.items()
    )
    statement = sql.SQL("UPDATE fencepost.jobs SET {} WHERE job_id = ANY ({})")
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute(statement.format(settings, sql.Literal(list(job_ids))))


@define
class Lockstep:
    """Two sets of ports that have to agree, call by call."""

    memory: Stores
    postgres: Stores
    clock: Clock
    _seen: dict[str, int] = field(factory=dict)

    async def both(self, call: Callable[[Stores], Awaitable[T]]) -> T:
        """Make one call to each and return the answer they share."""
        memory, postgres = await call(self.memory), await call(self.postgres)
        assert plain(postgres) == plain(memory), f"{self.postgres.name}: {postgres}\nmemory: {memory}"
        return memory

    async def attempt(self, call: Callable[[Stores], Awaitable[T]]) -> T | FencepostError:
        """Make one call to each, and return the answer or the error that they share."""

        async def caught(stores: Stores) -> T | FencepostError:
            try:
                return await call(stores)
            except FencepostError as error:
                return error

        memory, postgres = await caught(self.memory), await caught(self.postgres)
        if isinstance(memory, FencepostError) or isinstance(postgres, FencepostError):
            assert (type(postgres), str(postgres)) == (type(memory), str(memory))
        else:
            assert plain(postgres) == plain(memory), f"{self.postgres.name}: {postgres}\nmemory: {memory}"
        return memory

    async def refused(self, call: Callable[[Stores], Awaitable[Any]]) -> type[FencepostError]:
        """Make a call that each refuses, and return the error they share."""
        raised = []
        for stores in (self.memory, self.postgres):
            try:
                answer = await call(stores)
            except FencepostError as error:
                raised.append((type(error), str(error)))
            else:
                raise AssertionError(f"{stores.name} did not refuse: {answer}")
        assert raised[0] == raised[1]
        return raised[0][0]

    async def compare(self, above: int = 0, below: int = MANY) -> tuple[int, int]:
        """Compare the rows of a range of jobs and all events since the last time; return how many each."""
        rows = [await self._rows(stores, above, below) for stores in (self.memory, self.postgres)]
        assert_same(rows[0], rows[1])
        events = [await self._events(stores) for stores in (self.memory, self.postgres)]
        assert_same(events[0], events[1])
        return len(rows[0]), len(events[0])

    async def _rows(self, stores: Stores, above: int, below: int) -> dict[Any, Job]:
        jobs = await stores.reader.page(
            JobFilter(), below=below, limit=MANY if not above else below - above - 1
        )
        return {job.job_id: job for job in jobs}

    async def _events(self, stores: Stores) -> dict[Any, JobEvent | ControlEvent]:
        page = await stores.log.page(LogFilter(), after=self._seen.get(stores.name, 0), limit=MANY)
        if page:
            self._seen[stores.name] = page[-1].position or 0
        return {_key(event): unplaced(event) for event in page}


def assert_same(memory: dict[Any, Any], postgres: dict[Any, Any]) -> None:
    """Name the first differences instead of printing thousands of equal things."""
    if memory == postgres:
        return
    keys = sorted(memory.keys() | postgres.keys(), key=str)
    different = [key for key in keys if memory.get(key) != postgres.get(key)]
    shown = "\n\n".join(
        f"{key}:\n  memory   {memory.get(key)}\n  postgres {postgres.get(key)}" for key in different[:3]
    )
    raise AssertionError(f"{len(different)} differences; the first:\n{shown}")


def unplaced(event: Any) -> Any:
    """Return an event without its position, which no two databases share."""
    from attrs import evolve as changed

    return changed(event, position=None, data=dict(event.data))


def plain(answer: Any) -> Any:
    """Make answers comparable that differ only in the kind of their sequences."""
    if isinstance(answer, Claimed):
        return list(answer.jobs), answer.next_due_in, answer.open
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [plain(item) for item in answer]
    return answer


def _key(event: JobEvent | ControlEvent) -> tuple[Any, ...]:
    if isinstance(event, JobEvent):
        return "job", event.job_id, event.seq
    return "control", event.subject, event.name, json.dumps(event.data, sort_keys=True), event.at
