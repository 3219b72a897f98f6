"""The same plans for threads: one connection per call in progress."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from ...domain.errors import Unavailable
from .connector import Connector, Timeouts
from .database import BEGIN, LOCALLY, TRIES
from .outcome import Outcome
from .pool import usable
from .query import CopyIn, Plan, Query, Rows, run_plan
from .tables import tables

T = TypeVar("T")


class SyncDatabase:
    """What ``Database`` is, without an event loop; any number of threads may share it."""

    def __init__(
        self,
        dsn: str,
        schema: str = "fencepost",
        *,
        clock: Callable[[], datetime] | None = None,
        timeouts: Timeouts | None = None,
        pooled: bool = False,
    ) -> None:
        """Connect to nothing yet."""
        self.connector = Connector(dsn, timeouts=timeouts or Timeouts(), pooled=pooled)
        self.schema = schema
        self.tables = tables(schema)
        self._clock = clock
        self._idle: deque[psycopg.Connection[Any]] = deque()

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    def moment(self) -> datetime | None:
        """Return the value of ``:now`` in statements."""
        return None if self._clock is None else self._clock()

    def run(self, plan_factory: Callable[[], Plan[T]]) -> T:
        """Run a plan in one READ COMMITTED transaction; raises as ``Database.run`` does."""
        return self._repeated(lambda outcome: self._transaction(plan_factory(), outcome))

    def execute(self, query: Query) -> Rows:
        """Run one statement in a transaction of its own, in one round trip; raises as ``run`` does."""
        if self.connector.pooled:
            return self.run(lambda: _single(query))
        return self._repeated(lambda outcome: self._autocommitted(query, outcome))

    def _repeated(self, attempt: Callable[[Outcome], T]) -> T:
        for tries_left in reversed(range(TRIES)):
            outcome = Outcome()
            try:
                return attempt(outcome)
            except Unavailable as error:
                if not tries_left or not outcome.worth_repeating(error):
                    raise
        raise AssertionError

    def _autocommitted(self, query: Query, outcome: Outcome) -> Rows:
        with outcome, self._connection(outcome) as connection:
            outcome.committing = query.statement.writes
            rows = _fetched(connection, query)
            outcome.check_commit()
            return rows

    def _transaction(self, plan: Plan[T], outcome: Outcome) -> T:
        with outcome, self._connection(outcome) as connection:

            def execute(query: Query) -> Rows:
                outcome.wrote = outcome.wrote or query.statement.writes
                return _fetched(connection, query)

            connection.execute(BEGIN)
            if self.connector.pooled:
                connection.execute(LOCALLY, self.connector.setting_arrays)
            answer = run_plan(plan, execute)
            outcome.committing = outcome.wrote
            connection.execute("COMMIT")
            outcome.check_commit()
            return answer

    @contextmanager
    def _connection(self, outcome: Outcome) -> Iterator[psycopg.Connection[Any]]:
        connection = self._take()
        connection.add_notice_handler(outcome.notice)
        try:
            yield connection
        finally:
            outcome.left(connection)
            connection.remove_notice_handler(outcome.notice)
            if connection.info.transaction_status is TransactionStatus.IDLE:
                self._idle.append(connection)
            else:
                connection.close()

    def _take(self) -> psycopg.Connection[Any]:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if usable(connection):
                return connection
            connection.close()
        return self.connector.connect_sync()


def _single(query: Query) -> Plan[Rows]:
    return (yield query)


def _fetched(connection: psycopg.Connection[Any], query: Query) -> Rows:
    with connection.cursor(binary=True) as cursor:
        if isinstance(query, CopyIn):
            with cursor.copy(query.statement.sql) as copy:
                for block in query.blocks:
                    copy.write(block)
            return ()
        cursor.execute(query.statement.sql, query.values)
        return cursor.fetchall() if cursor.description is not None else ()
