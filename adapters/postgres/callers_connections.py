"""What a caller may hand us as a transaction, and how each kind runs a statement."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

from ...domain.errors import InvalidInput
from .query import Query, Rows

Execute = Callable[[Query], Rows]
ExecuteAsync = Callable[[Query], Awaitable[Rows]]

_KINDS = "a SQLAlchemy session or connection, a psycopg connection or a Django connection"


async def async_execute(tx: object) -> ExecuteAsync | None:
    """Return how to run statements in an asynchronous transaction; None when ``tx`` is not asynchronous.

    Raises InvalidInput when it has no transaction open.
    """
    if isinstance(tx, psycopg.AsyncConnection):
        _check_psycopg(tx)
        return _on_async_psycopg(tx)
    if isinstance(tx, AsyncSession | async_scoped_session):
        tx = await tx.connection()
    if isinstance(tx, AsyncConnection):
        if tx.sync_connection is None:
            raise InvalidInput("tx", "must be open")
        _check_alchemy(tx.sync_connection)
        return on_async_alchemy(tx)
    return None


def sync_execute(tx: object) -> Execute:
    """Return how to run statements in a synchronous transaction; raises InvalidInput as ``async_execute`` does."""
    if isinstance(tx, psycopg.Connection):
        _check_psycopg(tx)
        return _on_psycopg(tx)
    if isinstance(tx, Session | scoped_session):
        tx = tx.connection()
    if isinstance(tx, Connection):
        _check_alchemy(tx)
        return on_alchemy(tx)
    if hasattr(tx, "in_atomic_block"):
        _check_django(tx)
        return _on_django(tx)
    if isinstance(tx, AsyncSession | async_scoped_session | AsyncConnection | psycopg.AsyncConnection):
        raise InvalidInput("tx", "is asynchronous: use `await submit(…)` with it")
    raise InvalidInput("tx", f"must be {_KINDS}, not {type(tx).__name__}")


def _check_psycopg(connection: psycopg.BaseConnection[Any]) -> None:
    status = connection.info.transaction_status
    if connection.closed:
        raise InvalidInput("tx", "must be open")
    if status is TransactionStatus.INERROR:
        raise InvalidInput("tx", "must not be an aborted transaction")
    if connection.autocommit and status is TransactionStatus.IDLE:
        raise InvalidInput(
            "tx", "must be inside a transaction: begin one, or use `with connection.transaction()`"
        )


def _check_alchemy(connection: Connection) -> None:
    if connection.dialect.name != "postgresql":
        raise InvalidInput("tx", f"must lead to PostgreSQL, not {connection.dialect.name}")
    if connection.closed:
        raise InvalidInput("tx", "must be open")
    if getattr(connection.connection.dbapi_connection, "autocommit", False):
        raise InvalidInput("tx", "must be inside a transaction, which AUTOCOMMIT prevents")


def _check_django(connection: Any) -> None:
    if connection.vendor != "postgresql":
        raise InvalidInput("tx", f"must lead to PostgreSQL, not {connection.vendor}")
    if not connection.in_atomic_block:
        raise InvalidInput("tx", "must be inside `transaction.atomic()`")


def _on_psycopg(connection: psycopg.Connection[Any]) -> Execute:
    def execute(query: Query) -> Rows:
        with connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(query.statement.sql, query.values)
            return cursor.fetchall() if cursor.description is not None else ()

    return execute


def _on_async_psycopg(connection: psycopg.AsyncConnection[Any]) -> ExecuteAsync:
    async def execute(query: Query) -> Rows:
        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(query.statement.sql, query.values)
            return await cursor.fetchall() if cursor.description is not None else ()

    return execute


def on_alchemy(connection: Connection) -> Execute:
    """Return how to run statements on a SQLAlchemy connection."""

    def execute(query: Query) -> Rows:
        result = connection.execute(query.statement.core, dict(query.parameters))
        return result.fetchall() if result.returns_rows else ()

    return execute


def on_async_alchemy(connection: AsyncConnection) -> ExecuteAsync:
    """Return how to run statements on an asynchronous one."""

    async def execute(query: Query) -> Rows:
        result = await connection.execute(query.statement.core, dict(query.parameters))
        return result.fetchall() if result.returns_rows else ()

    return execute


def _on_django(connection: Any) -> Execute:
    # Django's own cursor, so that its bookkeeping and its exceptions are what the caller is used to.
    def execute(query: Query) -> Rows:
        with connection.cursor() as cursor:
            cursor.execute(query.statement.sql, dict(query.values))
            rows: Rows = cursor.fetchall() if cursor.description is not None else ()
            return rows

    return execute
