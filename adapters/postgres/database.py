"""Our connections to one database, and plans run on them: each in one transaction, errors in the domain's words."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

import psycopg
from psycopg.pq import ExecStatus

from ...domain.errors import Unavailable
from .connector import Connector, Timeouts
from .outcome import Outcome
from .pool import Pool
from .query import CopyIn, Plan, Query, Row, Rows, run_plan_async
from .snapshot import SNAPSHOT, UNHURRIED, Snapshot
from .tables import tables

T = TypeVar("T")
TRIES = 5
"""Runs of a plan that the server rolled back for others' sake, or that broke with its connection before COMMIT."""
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
LOCALLY = "SELECT set_config(name, setting, true) FROM unnest(%s::text[], %s::text[]) AS s (name, setting)"


class Database:
    """A pool of connections that are opened when first used and replaced when broken.

    ``clock`` is the seam through which tests own the time: what it returns takes the place of the database's clock.
    ``pooled`` says that a transaction pooler such as PgBouncer is in between.
    """

    generic_plans = False

    def __init__(
        self,
        dsn: str,
        schema: str = "fencepost",
        *,
        clock: Callable[[], datetime] | None = None,
        pool_size: int = 4,
        application_name: str = "fencepost",
        timeouts: Timeouts | None = None,
        pooled: bool = False,
    ) -> None:
        """Connect to nothing yet."""
        self.connector = Connector(dsn, application_name, timeouts or Timeouts(), pooled, self.generic_plans)
        self.schema = schema
        self.tables = tables(schema)
        self._clock = clock
        self._pool = Pool(self.connector, pool_size)

    async def open(self) -> None:
        """Try that the database can be reached; raises Unavailable. Using it unopened is fine, too."""
        async with self._pool.connection():
            pass

    async def close(self) -> None:
        """Close the connections; those in use are closed when they come back."""
        await self._pool.close()

    def moment(self) -> datetime | None:
        """Return the value of ``:now`` in statements: None lets the database read its clock."""
        return None if self._clock is None else self._clock()

    async def run(self, plan_factory: Callable[[], Plan[T]]) -> T:
        """Run a plan in one READ COMMITTED transaction, again from the start when the server asks for it.

        Raises Unavailable (nothing changed), UnknownOutcome (the reply to COMMIT was lost), Unstorable.
        """
        return await self._repeated(lambda outcome: self._transaction(plan_factory(), outcome))

    async def execute(self, query: Query) -> Rows:
        """Run one statement in a transaction of its own, in one round trip; raises as ``run`` does."""
        if self.connector.pooled:
            return await self.run(lambda: _single(query))
        return await self._repeated(lambda outcome: self._autocommitted(query, outcome))

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """Read several things as they were at one moment; errors are translated as by ``run``."""
        outcome = Outcome()
        with outcome:
            async with self._pool.connection(outcome) as connection:
                await connection.execute(SNAPSHOT)
                await self._prepare_transaction(connection)
                await connection.execute(UNHURRIED)
                yield Snapshot(connection)
                await connection.execute("COMMIT")

    async def stream(self, query: Query, batch: int = 1_000) -> AsyncIterator[Row]:
        """Yield rows through a server-side cursor, from one read-only snapshot."""
        async with self.snapshot() as snapshot:
            async for rows in snapshot.batches(query, batch):
                for row in rows:
                    yield row

    async def _repeated(self, attempt: Callable[[Outcome], Awaitable[T]]) -> T:
        for tries_left in reversed(range(TRIES)):
            outcome = Outcome()
            try:
                with outcome:
                    async with asyncio.timeout(self.connector.reply_within):
                        return await attempt(outcome)
            except Unavailable as error:
                if not tries_left or not outcome.worth_repeating(error):
                    raise
        raise AssertionError

    async def _autocommitted(self, query: Query, outcome: Outcome) -> Rows:
        async with self._pool.connection(outcome) as connection:
            outcome.committing = query.statement.writes
            rows = await _fetched(connection, query)
            outcome.check_commit()
            return rows

    async def _transaction(self, plan: Plan[T], outcome: Outcome) -> T:
        async with self._pool.connection(outcome) as connection:
            await connection.execute(BEGIN)
            await self._prepare_transaction(connection)

            async def execute(query: Query) -> Rows:
                outcome.wrote = outcome.wrote or query.statement.writes
                return await _fetched(connection, query)

            answer = await run_plan_async(plan, execute)
            outcome.committing = outcome.wrote
            await connection.execute("COMMIT")
            outcome.check_commit()
            return answer

    async def _prepare_transaction(self, connection: psycopg.AsyncConnection[Any]) -> None:
        if self.connector.pooled:
            await connection.execute(LOCALLY, self.connector.setting_arrays)


class RepeatingDatabase(Database):
    """For a loop that runs the same few statements over and over: each is planned once."""

    generic_plans = True


def _single(query: Query) -> Plan[Rows]:
    return (yield query)


async def _fetched(connection: psycopg.AsyncConnection[Any], query: Query) -> Rows:
    async with psycopg.AsyncRawCursor(connection) as cursor:
        if isinstance(query, CopyIn):
            async with cursor.copy(query.statement.raw) as copy:
                for block in query.blocks:
                    await copy.write(block)
            return ()
        await cursor.execute(query.statement.raw, query.numbered, binary=True)
        # Not ``description``, which makes an object of each column.
        answered = cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK
        return await cursor.fetchall() if answered else ()
