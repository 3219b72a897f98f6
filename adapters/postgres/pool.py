"""A few connections, opened when first used; a broken one is replaced by the next use."""

import asyncio
import select
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

    def connection(self, outcome: Outcome | None = None) -> "Loan":
        """Lend a connection; what is left of a transaction at the end is rolled back. Raises Unavailable."""
        return Loan(self, outcome or Outcome())

    async def close(self) -> None:
        """Close the idle connections; those in use are closed when they come back."""
        self._closed = True
        while self._idle:
            await self._idle.pop().close()

    async def take(self) -> psycopg.AsyncConnection[Any]:
        """Wait for a connection of one's own."""
        await self._free.acquire()
        try:
            return await self._usable()
        except BaseException:
            self._free.release()
            raise

    async def give_back(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Let others have it."""
        try:
            await self._put_away(connection)
        finally:
            self._free.release()

    async def _usable(self) -> psycopg.AsyncConnection[Any]:
        while self._idle:
            connection = self._idle.pop()
            if usable(connection):
                return connection
            await connection.close()
        self._closed = False
        return await self._connector.connect()

    async def _put_away(self, connection: psycopg.AsyncConnection[Any]) -> None:
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


class Loan:
    """A connection for the block; a class, as a generator takes longer and every statement begins here."""

    __slots__ = ("_connection", "_outcome", "_pool")

    def __init__(self, pool: Pool, outcome: Outcome) -> None:
        """Take nothing yet."""
        self._pool, self._outcome = pool, outcome
        self._connection: psycopg.AsyncConnection[Any]

    async def __aenter__(self) -> psycopg.AsyncConnection[Any]:
        """Take it, and let the outcome hear the server's notices."""
        self._connection = await self._pool.take()
        self._connection.add_notice_handler(self._outcome.notice)
        return self._connection

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Give it back, or close it."""
        connection = self._connection
        try:
            self._outcome.left(connection)
            connection.remove_notice_handler(self._outcome.notice)
            # A session keeps the default it began with, long after a failover is over.
            if isinstance(error, ReadOnlySqlTransaction):
                await connection.close()
        finally:
            await self._pool.give_back(connection)
