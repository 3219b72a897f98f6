"""What is asked of every database at the end of a test: rows are the fold of their events, no promise is broken."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

import psycopg
import pytest
from attrs import asdict, define, evolve, field

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.verifying import verify
from fencepost.domain.errors import HistoryError
from fencepost.domain.event import ControlEvent, JobEvent
from fencepost.domain.evolve import evolve as applied
from fencepost.domain.invariants import Report
from fencepost.domain.job import Job
from fencepost.domain.ledger_rows import LedgerRow, ScheduleRow
from fencepost.domain.vocabulary import State

SHOWN = 10
MARKER = "unproven(reason): the test plants what the checker must find, or rows nobody accounts for"
_THERE = "SELECT to_regclass('fencepost.jobs') IS NOT NULL"
_USED = """
SELECT EXISTS (SELECT FROM fencepost.jobs) OR EXISTS (SELECT FROM fencepost.job_events)
    OR EXISTS (SELECT FROM fencepost.control_events)
"""


def prove(dsn: str, node: pytest.Item, clock: Callable[[], datetime] | None = None) -> None:
    """Fail unless the history in a database holds, its rows included; a database without jobs costs one connection.

    ``clock`` is the test's, if it owns the time.
    """
    marker = node.get_closest_marker("unproven")
    if marker is not None:
        assert marker.args, "say why the history of this test cannot be proven"
        return
    if not _used(dsn):
        return
    loop = asyncio.new_event_loop()  # not asyncio.run: it would take the test's own loop away
    try:
        problems = loop.run_until_complete(problems_of(dsn, clock))
    finally:
        loop.close()
    if problems:
        shown = "\n  ".join(problems[:SHOWN])
        pytest.fail(f"{len(problems)} violations in the history this test left:\n  {shown}", pytrace=False)


async def audit(database: Database, *, job_id: int | None = None) -> Report:
    """Return what `fencepost audit verify` finds."""
    return await verify(PostgresEventLog(database), job_id=job_id)


async def problems_of(dsn: str, clock: Callable[[], datetime] | None = None) -> list[str]:
    """Return a line for each row that is not its events' fold, and for each violation the checker finds."""
    database = Database(dsn, clock=clock, pool_size=1, application_name="fencepost proof")
    try:
        log = Folding(PostgresEventLog(database))
        report = await verify(log)
    finally:
        await database.close()
    return log.differences + [str(violation) for violation in report.violations]


@define
class Folding:
    """An event log that, while it is read, compares each row with the fold of its events."""

    log: PostgresEventLog
    differences: list[str] = field(factory=list)

    async def stream(self, *, job_id: int | None = None) -> AsyncIterator[JobEvent | LedgerRow | Job]:
        """Yield what the log yields."""
        folded: Job | None = None
        async for item in self.log.stream(job_id=job_id):
            if isinstance(item, Job):
                self._compare(item, folded)
            elif isinstance(item, JobEvent):
                folded = self._apply(folded, item)
            yield item

    def schedule_stream(self) -> AsyncIterator[ControlEvent | ScheduleRow | LedgerRow]:
        """Yield what the log yields."""
        return self.log.schedule_stream()

    def control_stream(self) -> AsyncIterator[ControlEvent]:
        """Yield what the log yields."""
        return self.log.control_stream()

    async def clock(self) -> datetime:
        """Return the log's clock."""
        return await self.log.clock()

    def __getattr__(self, name: str) -> Any:
        """Leave everything else to the log."""
        return getattr(self.log, name)

    def _apply(self, folded: Job | None, event: JobEvent) -> Job | None:
        try:
            same = folded is not None and folded.job_id == event.job_id
            return applied(folded if same else None, event)
        except HistoryError as error:
            self.differences.append(str(error))
            return folded

    def _compare(self, row: Job, folded: Job | None) -> None:
        if folded is None or folded.job_id != row.job_id:
            self.differences.append(f"job {row.job_id}: a row without events")
        else:
            told, shown = asdict(_alike(folded, row)), asdict(row)
            self.differences += [
                f"job {row.job_id}: {name} is {shown[name]!r}, events say {told[name]!r}"
                for name in shown
                if told[name] != shown[name]
            ]


def _alike(folded: Job, row: Job) -> Job:
    """Return the fold with what events need not tell: an erased payload, and what heartbeats did to a lease."""
    if row.payload is None or folded.payload is None:
        folded = evolve(folded, payload=row.payload)
    if row.state is State.RUNNING:
        folded = evolve(folded, lease_expires_at=row.lease_expires_at, heartbeats=row.heartbeats)
    return folded


def _used(dsn: str) -> bool:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return _true(connection, _THERE) and _true(connection, _USED)


def _true(connection: psycopg.Connection[Any], question: str) -> bool:
    row = connection.execute(question.encode()).fetchone()
    return row is not None and bool(row[0])
