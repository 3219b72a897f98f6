"""``ctx.transaction()``: the handler's writes and its job's success in one transaction.

The job's row is locked only by the last statements, so heartbeats go on while the handler works. When the reply to
COMMIT is lost, ``completing.fate`` finds out what happened before the block is left: it ends without an error exactly
when the writes are there. Should even that fail (UnknownOutcome), the worker reports a failure, and that is safe: the
report can't pass the row's lock, and is refused when the transaction turns out to have been committed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import cached_property
from typing import Any

import stamina
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ...application.ports.transactions import Success
from ...domain.commands import Succeed
from ...domain.errors import FencepostError, LeaseLost, Unavailable, UnknownOutcome
from .callers_connections import on_alchemy, on_async_alchemy
from .commit_guard import CommitGuard
from .completing import completion, fate, handlers_connector
from .database import Database
from .errors import translated
from .judging import judge
from .query import run_plan, run_plan_async
from .sync_database import SyncDatabase

_ENGINE: dict[str, Any] = {
    "isolation_level": "READ COMMITTED",
    "pool_size": 2,
    "max_overflow": -1,  # the worker's slots are the bound
    "pool_pre_ping": True,
}
_RESOLVING: dict[str, Any] = {
    "on": (Unavailable, UnknownOutcome),
    "timeout": 30.0,
    "attempts": None,
    "wait_initial": 0.05,
    "wait_max": 2.0,
}


class PostgresTransactions:
    """Implements the port ``CompletingTransactions``; yields SQLAlchemy connections."""

    def __init__(self, dsn: str, database: Database) -> None:
        """Connect to nothing yet; ``database`` answers what became of a transaction."""
        self._database = database
        given = database.connector
        self._sync_database = SyncDatabase(given.dsn, database.schema, pooled=given.pooled)
        self._connector = handlers_connector(dsn, pooled=given.pooled)

    def open(self, success: Success) -> AbstractAsyncContextManager[AsyncConnection]:
        """Yield a connection in a transaction."""
        return self._open(success)

    def open_sync(self, success: Success) -> AbstractContextManager[Connection]:
        """Yield a connection in a transaction, for a handler in a thread."""
        return self._open_sync(success)

    async def close(self) -> None:
        """Close the idle connections."""
        if "_async_engine" in self.__dict__:
            await self._async_engine.dispose()
        if "_engine" in self.__dict__:
            self._engine.dispose()
        self._sync_database.close()

    @cached_property
    def _async_engine(self) -> AsyncEngine:
        return create_async_engine("postgresql+psycopg://", async_creator=self._connector.connect, **_ENGINE)

    @cached_property
    def _engine(self) -> Engine:
        return create_engine("postgresql+psycopg://", creator=self._connector.connect_sync, **_ENGINE)

    @asynccontextmanager
    async def _open(self, success: Success) -> AsyncIterator[AsyncConnection]:
        async with self._async_engine.connect() as connection:
            await connection.begin()
            guard = CommitGuard(_synchronous(connection))
            yield connection
            guard.check_open()
            report = success()
            try:
                with _translating():
                    await run_plan_async(self._completion(report), on_async_alchemy(connection))
            except LeaseLost:
                await connection.rollback()
                await self._leave_evidence(report)
                raise
            try:
                with guard.committing():
                    async with asyncio.timeout(self._database.connector.reply_within):
                        await connection.commit()
            except UnknownOutcome as error:
                await self._resolve(report, error)

    async def _resolve(self, report: Succeed, unknown: UnknownOutcome) -> None:
        problem: FencepostError | None = unknown
        async for attempt in stamina.retry_context(**_RESOLVING):
            with attempt:
                problem = await self._database.run(lambda: fate(self._database.schema, report.token))
        if problem is not None:
            raise problem from unknown

    async def _leave_evidence(self, report: Succeed) -> None:
        with suppress(FencepostError):  # evidence is welcome, the error itself is what counts
            await self._database.run(lambda: judge(self._database.schema, [report], self._database.moment()))

    @contextmanager
    def _open_sync(self, success: Success) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.begin()
            guard = CommitGuard(connection)
            yield connection
            guard.check_open()
            report = success()
            try:
                with _translating():
                    run_plan(self._completion(report), on_alchemy(connection))
            except LeaseLost:
                connection.rollback()
                self._leave_evidence_sync(report)
                raise
            try:
                with guard.committing():
                    connection.commit()
            except UnknownOutcome as error:
                self._resolve_sync(report, error)

    def _resolve_sync(self, report: Succeed, unknown: UnknownOutcome) -> None:
        problem: FencepostError | None = unknown
        for attempt in stamina.retry_context(**_RESOLVING):
            with attempt:
                problem = self._sync_database.run(lambda: fate(self._database.schema, report.token))
        if problem is not None:
            raise problem from unknown

    def _leave_evidence_sync(self, report: Succeed) -> None:
        with suppress(FencepostError):
            self._sync_database.run(lambda: judge(self._database.schema, [report], self._database.moment()))

    def _completion(self, report: Succeed) -> Any:
        return completion(self._database.schema, report, self._database.moment())


def _synchronous(connection: AsyncConnection) -> Connection:
    assert connection.sync_connection is not None
    return connection.sync_connection


@contextmanager
def _translating() -> Iterator[None]:
    """Translate what goes wrong before COMMIT was sent: nothing was changed then."""
    try:
        yield
    except DBAPIError as error:
        meaning = translated(error.orig, in_doubt=False) if isinstance(error.orig, Exception) else error
        raise meaning from error
