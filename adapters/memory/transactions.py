"""``ctx.transaction()`` in memory: a list of writes kept only together with the job's success."""

from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from typing import Any

from ...application.ports.transactions import Success
from ...domain.errors import LeaseLost, Unavailable
from ...domain.vocabulary import Verdict
from .database import MemoryDatabase
from .reports import apply_reports


class MemoryTransactions:
    """Implements the port ``CompletingTransactions``; the connection is a list, kept on commit."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    def open(self, success: Success) -> AbstractAsyncContextManager[list[Any]]:
        """Yield the list."""
        return self._open(success)

    def open_sync(self, success: Success) -> AbstractContextManager[list[Any]]:
        """Yield the list."""
        return self._open_sync(success)

    @asynccontextmanager
    async def _open(self, success: Success) -> AsyncIterator[list[Any]]:
        writes: list[Any] = []
        yield writes
        self._commit(success, writes)

    @contextmanager
    def _open_sync(self, success: Success) -> Iterator[list[Any]]:
        writes: list[Any] = []
        yield writes
        self._commit(success, writes)

    def _commit(self, success: Success, writes: list[Any]) -> None:
        report = success()
        with self._database.transaction() as now:
            (verdict,) = apply_reports(self._database, [report], now)
            if verdict is Verdict.BUSY:
                raise Unavailable(f"the row of job {report.token.job_id} stayed locked")
            if verdict is not Verdict.ACCEPTED:
                raise LeaseLost(f"attempt {report.token.attempt} no longer holds job {report.token.job_id}")
            self._database.writes += writes
