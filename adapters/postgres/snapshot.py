"""Reads that all see the same moment."""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import psycopg

from .query import Query, Rows

SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
UNHURRIED = "SET LOCAL idle_in_transaction_session_timeout = '5min'"
"""Whoever reads it all may think about a batch for a while, and holds no lock that anybody waits for."""


class Snapshot:
    """One read-only transaction."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Read through a connection whose transaction has begun."""
        self._connection = connection
        self._names = count(1)

    async def rows(self, query: Query) -> Rows:
        """Return all rows of a statement."""
        async with self._connection.cursor(binary=True) as cursor:
            await cursor.execute(query.statement.sql, query.values)
            return await cursor.fetchall()

    async def batches(self, query: Query, size: int = 1_000) -> AsyncIterator[Rows]:
        """Yield rows through a server-side cursor, many at a time; several may be read in turn."""
        name = f"stream_{next(self._names)}"
        async with self._connection.cursor(name, binary=True) as cursor:
            await cursor.execute(query.statement.sql, query.values)
            while rows := await cursor.fetchmany(size):
                yield rows
