"""A few connections, opened when first used; a broken one is replaced by the next use."""

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus

from .connector import CONNECT_SECONDS, Connector
from .outcome import Outcome

_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


def usable(connection: psycopg.BaseConnection[Any]) -> bool:
    """Whether an idle connection is as we left it.

    Anything to read from it without a question is, nearly always, the server's farewell. Noticing it before a
    statement is sent is what tells "nothing happened" from "nobody knows".
    """
    if connection.closed:
        return False
    return not _readable(connection.fileno())


def _readable(descriptor: int) -> bool:
    """Look without a selector of its own for each look, where the platform can."""
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class Pool:
    """At most ``size`` connections; further callers wait for one, in their order."""

    def __init__(self, connector: Connector, size: int) -> None:
        """Connect to nothing yet."""
        self._connector = connector
        self._free = asyncio.Semaphore(size)
        self._idle: list[psycopg.AsyncConnection[Any]] = []
        self._closed = False

    @asynccontextmanager
    async def connection(self, outcome: Outcome | None = None) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """Lend a connection; what is left of a transaction at the end is rolled back. Raises Unavailable."""
        outcome = outcome or Outcome()
        async with self._free:
            connection = await self._take()
            connection.add_notice_handler(outcome.notice)
            reusable = True
            try:
                yield connection
            except ReadOnlySqlTransaction:
                reusable = False  # a session keeps the default it began with, long after a failover is over
                raise
            finally:
                outcome.left(connection)
                connection.remove_notice_handler(outcome.notice)
                if not reusable:
                    await connection.close()
                await self._give_back(connection)

    async def close(self) -> None:
        """Close the idle connections; those in use are closed when they come back."""
        self._closed = True
        while self._idle:
            await self._idle.pop().close()

    async def _take(self) -> psycopg.AsyncConnection[Any]:
        while self._idle:
            connection = self._idle.pop()
            if usable(connection):
                return connection
            await connection.close()
        self._closed = False
        return await self._connector.connect()

    async def _give_back(self, connection: psycopg.AsyncConnection[Any]) -> None:
        try:
            if connection.info.transaction_status in _OPEN:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await connection.rollback()
        except (psycopg.Error, TimeoutError):
            await connection.close()
        if self._closed or connection.info.transaction_status is not TransactionStatus.IDLE:
            await connection.close()
        else:
            self._idle.append(connection)
