"""Reads of the history: both event tables, in their order."""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, Table, Text, bindparam, false, func, select

from ...application.ports.event_log import LogFilter
from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from ...domain.ledger_rows import LedgerRow, ScheduleRow
from .database import Database
from .ledger_log import BATCH, schedules, with_ledger
from .query import Query, Statement
from .rows import columns, control_event, job, job_event
from .snapshot import Snapshot
from .tables import MOMENT

Event = JobEvent | ControlEvent
# The primary key gives the order at once; sorting a long history first would run into the statement timeout.
_BY_INDEX = Statement(select(func.set_config("enable_sort", "off", True)))


class PostgresEventLog:
    """Implements the port ``EventLog``."""

    def __init__(self, database: Database) -> None:
        """Read this database."""
        self._database, self._schema = database, database.schema
        self._jobs, self._events = database.tables.jobs, database.tables.job_events
        self._controls = database.tables.control_events
        one, subject = bindparam("job_id", type_=BigInteger), bindparam("subject", type_=Text)
        self._history = Statement(self._histories().where(self._events.c.job_id == one))
        self._evidence = Statement(self._in_order(self._controls).where(self._controls.c.subject == subject))
        now = bindparam("now", type_=MOMENT)
        self._clock = Statement(select(func.coalesce(now, func.clock_timestamp())))

    async def history(self, job_id: int) -> Sequence[JobEvent]:
        """Return a job's events by seq."""
        return [job_event(row) for row in await self._database.execute(self._history(job_id=job_id))]

    async def evidence(self, job_id: int) -> Sequence[ControlEvent]:
        """Return the control events about one job by position."""
        rows = await self._database.execute(self._evidence(subject=_subject(job_id)))
        return [control_event(row) for row in rows]

    async def page(self, where: LogFilter, *, after: int = 0, limit: int = 100) -> Sequence[Event]:
        """Return the global log: a page of each table, from one snapshot, merged by position."""
        async with self._database.snapshot() as snapshot:
            jobs = await snapshot.rows(self._page(self._events, where, after, limit))
            controls = await snapshot.rows(self._page(self._controls, where, after, limit))
        found: list[Event] = [job_event(row) for row in jobs]
        found += [control_event(row) for row in controls]
        return sorted(found, key=_position)[:limit]

    async def stream(self, *, job_id: int | None = None) -> AsyncIterator[JobEvent | LedgerRow | Job]:
        """Yield each job's events, its rows of the ledger, and its row, through cursors of one snapshot."""
        events, jobs = self._histories(), select(*columns(self._jobs)).order_by(self._jobs.c.job_id)
        if job_id is not None:
            events = events.where(self._events.c.job_id == job_id)
            jobs = jobs.where(self._jobs.c.job_id == job_id)
        async with self._database.snapshot() as snapshot:
            await snapshot.rows(_BY_INDEX())
            beside = with_ledger(snapshot, self._schema, _jobs(snapshot, Statement(jobs)()), job_id)
            following = await anext(beside, None)
            async for batch in snapshot.batches(Statement(events)(), BATCH):
                for event in map(job_event, batch):
                    while following is not None and following[0] < event.job_id:
                        yield following[1]
                        following = await anext(beside, None)
                    yield event
            while following is not None:
                yield following[1]
                following = await anext(beside, None)

    async def schedule_stream(self) -> AsyncIterator[ControlEvent | ScheduleRow | LedgerRow]:
        """Yield all that is known of each schedule, through cursors of one snapshot."""
        async with self._database.snapshot() as snapshot:
            await snapshot.rows(_BY_INDEX())
            async for item in schedules(snapshot, self._schema):
                yield item

    async def control_stream(self) -> AsyncIterator[ControlEvent]:
        """Yield all control events by position."""
        async for row in self._database.stream(Statement(self._in_order(self._controls))(), BATCH):
            yield control_event(row)

    async def clock(self) -> datetime:
        """Return the database's clock."""
        [(now,)] = await self._database.execute(self._clock(now=self._database.moment()))
        assert isinstance(now, datetime)
        return now

    def _histories(self) -> Select[Any]:
        events = self._events
        return select(*columns(events)).order_by(events.c.job_id, events.c.seq)

    def _in_order(self, table: Table) -> Select[Any]:
        return select(*columns(table)).order_by(table.c.position)

    def _page(self, table: Table, where: LogFilter, after: int, limit: int) -> Query:
        query = self._in_order(table).where(table.c.position > after, *_conditions(table, where))
        return Statement(query.limit(limit))()


async def _jobs(snapshot: Snapshot, query: Query) -> AsyncIterator[Job]:
    async for batch in snapshot.batches(query, BATCH):
        for row in batch:
            yield job(row)


def _conditions(table: Table, where: LogFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the filter's conditions; one that a table's events can't meet leaves none of them."""
    if where.names is not None:
        yield table.c.name.in_(sorted(where.names))
    if where.actor is not None:
        yield table.c.actor == where.actor
    if where.since is not None:
        yield table.c.at >= where.since
    for subject in (where.subject, None if where.job_id is None else _subject(where.job_id)):
        if subject is None:
            continue
        if "subject" in table.c:
            yield table.c.subject == subject
        elif (of_job := subject.removeprefix("job:")) != subject and of_job.isdecimal():
            yield table.c.job_id == int(of_job)
        else:
            yield false()


def _subject(job_id: int) -> str:
    return f"job:{job_id}"


def _position(event: Event) -> int:
    assert event.position is not None
    return event.position
