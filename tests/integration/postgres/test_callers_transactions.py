"""Submitting inside the caller's transaction, whatever kind of connection it is on."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from fencepost.adapters.postgres import submit_keys
from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.adapters.postgres.waking import channel
from fencepost.domain.errors import InvalidInput, KeyConflict, KeyInProgress
from support.rig import Rig, keyed, submission

CALLERS = PostgresCallersTransactions()
BATCH = [submission(), keyed("k"), submission(unique_key="u")]
Finish = Callable[[Any], Any]


@contextmanager
def engine_over(dsn: str) -> Iterator[Engine]:
    """A SQLAlchemy engine, disposed of at the end."""
    engine = create_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
    try:
        yield engine
    finally:
        engine.dispose()


def with_psycopg(dsn: str, end: str) -> None:
    """A psycopg connection."""
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        CALLERS.submit_in_sync(connection, BATCH)
        getattr(connection, end)()


def with_connection(dsn: str, end: str) -> None:
    """A SQLAlchemy connection."""
    with engine_over(dsn) as engine, engine.connect() as connection:
        CALLERS.submit_in_sync(connection, BATCH)
        getattr(connection, end)()


def with_session(dsn: str, end: str) -> None:
    """A SQLAlchemy session."""
    with engine_over(dsn) as engine, Session(engine) as session:
        CALLERS.submit_in_sync(session, BATCH)
        getattr(session, end)()


def with_scoped_session(dsn: str, end: str) -> None:
    """A session of the current thread, as web frameworks have it."""
    with engine_over(dsn) as engine:
        session = scoped_session(sessionmaker(engine))
        CALLERS.submit_in_sync(session, BATCH)
        getattr(session, end)()
        session.remove()


def with_django(dsn: str, end: str) -> None:
    """A Django connection, inside transaction.atomic()."""
    with psycopg.connect(dsn) as connection:
        CALLERS.submit_in_sync(LikeDjango(connection), BATCH)
        getattr(connection, end)()


class LikeDjango:
    """What is used of django.db.connection."""

    vendor = "postgresql"

    def __init__(self, connection: psycopg.Connection, *, in_atomic_block: bool = True) -> None:
        """Wrap a connection."""
        self.connection = connection
        self.in_atomic_block = in_atomic_block

    def cursor(self) -> Any:
        """Open a cursor that puts values into the statement itself, as Django does by default."""
        return psycopg.ClientCursor(self.connection)


async def with_async_psycopg(dsn: str, end: str) -> None:
    """An asynchronous psycopg connection."""
    async with await psycopg.AsyncConnection.connect(dsn, row_factory=dict_row) as connection:
        await CALLERS.submit_in(connection, BATCH)
        await getattr(connection, end)()


async def with_async_connection(dsn: str, end: str) -> None:
    """An asynchronous SQLAlchemy connection."""
    engine = create_async_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
    async with engine.connect() as connection:
        await CALLERS.submit_in(connection, BATCH)
        await getattr(connection, end)()
    await engine.dispose()


async def with_async_session(dsn: str, end: str) -> None:
    """An asynchronous SQLAlchemy session."""
    engine = create_async_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
    async with AsyncSession(engine) as session:
        await CALLERS.submit_in(session, BATCH)
        await getattr(session, end)()
    await engine.dispose()


SYNC = [with_psycopg, with_connection, with_session, with_scoped_session, with_django]
ASYNC = [with_async_psycopg, with_async_connection, with_async_session]


@pytest.mark.parametrize("use", SYNC, ids=lambda use: use.__name__)
async def test_jobs_commit_or_vanish_with_a_synchronous_transaction(
    rig: Rig, use: Callable[[str, str], None]
) -> None:
    """After a rollback there is nothing, and its keys are free; after a commit there is everything."""
    for end, jobs in (("rollback", 0), ("commit", 3)):
        await asyncio.to_thread(use, rig.dsn, end)
        assert await rig.count() == jobs
        assert await rig.ask("SELECT count(*) FROM fencepost.job_events") == [(jobs,)]


@pytest.mark.parametrize("use", ASYNC, ids=lambda use: use.__name__)
async def test_jobs_commit_or_vanish_with_an_asynchronous_transaction(
    rig: Rig, use: Callable[[str, str], Awaitable[None]]
) -> None:
    """After a rollback there is nothing, and its keys are free; after a commit there is everything."""
    for end, jobs in (("rollback", 0), ("commit", 3)):
        await use(rig.dsn, end)
        assert await rig.count() == jobs


async def test_a_conflict_leaves_the_transaction_usable(rig: Rig) -> None:
    """The batch is undone, what the caller wrote before stays and commits, and its patience is what it was."""
    await rig.submit(keyed("k", "one"))
    await rig.ask("CREATE TABLE IF NOT EXISTS writes (word text)")
    async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
        await connection.execute("SET lock_timeout = '12s'")
        await connection.execute("INSERT INTO writes VALUES ('kept')")
        with pytest.raises(KeyConflict):
            await CALLERS.submit_in(connection, [submission(), keyed("new"), keyed("k", "two")])
        await CALLERS.submit_in(connection, [keyed("other")])
        cursor = await connection.execute("SHOW lock_timeout")
        assert await cursor.fetchone() == ("12s",)
    assert await rig.ask("SELECT word FROM writes") == [("kept",)]
    assert await rig.ask("SELECT key FROM fencepost.submit_keys ORDER BY key") == [("k",), ("other",)]
    assert await rig.count() == 2
    await rig.ask("DROP TABLE writes")


@pytest.mark.parametrize("kind", ["psycopg", "sqlalchemy", "async"])
async def test_giving_up_waiting_leaves_the_transaction_usable(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """KeyInProgress is not an aborted transaction: the caller may go on, and commit something else."""
    monkeypatch.setattr(submit_keys, "PATIENCE", "200ms")

    def wait_in_vain(tx: Any) -> None:
        with pytest.raises(KeyInProgress):
            CALLERS.submit_in_sync(tx, [submission(), keyed("k")])
        CALLERS.submit_in_sync(tx, [submission()])
        tx.commit()

    async with await psycopg.AsyncConnection.connect(rig.dsn) as first:
        await CALLERS.submit_in(first, [keyed("k")])
        if kind == "psycopg":
            with psycopg.connect(rig.dsn) as connection:
                await asyncio.to_thread(wait_in_vain, connection)
        elif kind == "sqlalchemy":
            with engine_over(rig.dsn) as engine, Session(engine) as session:
                await asyncio.to_thread(wait_in_vain, session)
        else:
            async with await psycopg.AsyncConnection.connect(rig.dsn) as connection2:
                with pytest.raises(KeyInProgress):
                    await CALLERS.submit_in(connection2, [submission(), keyed("k")])
                await CALLERS.submit_in(connection2, [submission()])
        await first.rollback()
    assert await rig.count() == 1


async def test_transactions_that_are_none_are_refused(rig: Rig) -> None:
    """What has no transaction open, or can't have one, is named in a clear error."""
    closed = psycopg.connect(rig.dsn)
    closed.close()
    with pytest.raises(InvalidInput, match="must be open"):
        CALLERS.submit_in_sync(closed, BATCH)
    with psycopg.connect(rig.dsn, autocommit=True) as autocommitting:
        with pytest.raises(InvalidInput, match="inside a transaction"):
            CALLERS.submit_in_sync(autocommitting, BATCH)
        with pytest.raises(InvalidInput, match="atomic"):
            CALLERS.submit_in_sync(LikeDjango(autocommitting, in_atomic_block=False), BATCH)
        with autocommitting.transaction():
            CALLERS.submit_in_sync(autocommitting, BATCH)
    with engine_over(rig.dsn) as engine, engine.connect() as connection:
        autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(InvalidInput, match="AUTOCOMMIT"):
            CALLERS.submit_in_sync(autocommit, BATCH)
    for nonsense in (rig, "postgresql://", None):
        with pytest.raises(InvalidInput, match="SQLAlchemy session"):
            await CALLERS.submit_in(nonsense, BATCH)
    assert await rig.count() == 3


async def test_an_aborted_transaction_is_refused(rig: Rig) -> None:
    """A transaction that can only be rolled back is not asked for more."""
    with psycopg.connect(rig.dsn) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1 / 0")
        with pytest.raises(InvalidInput, match="aborted"):
            CALLERS.submit_in_sync(connection, BATCH)
        connection.rollback()


async def test_other_databases_are_refused() -> None:
    """A session on SQLite can't carry jobs."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection, pytest.raises(InvalidInput, match="not sqlite"):
        CALLERS.submit_in_sync(connection, BATCH)
    engine.dispose()


async def test_an_asynchronous_transaction_needs_an_asynchronous_submit(rig: Rig) -> None:
    """Using an asynchronous connection from synchronous code is said, not crashed."""
    async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
        with pytest.raises(InvalidInput, match="asynchronous"):
            CALLERS.submit_in_sync(connection, BATCH)


async def test_a_synchronous_transaction_may_be_used_from_a_coroutine(rig: Rig) -> None:
    """It blocks the loop meanwhile, as everything else on it does."""
    with psycopg.connect(rig.dsn) as connection:
        assert len(await CALLERS.submit_in(connection, BATCH)) == 3


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
async def test_stricter_isolation_levels_work_and_say_when_they_cannot(rig: Rig, level: str) -> None:
    """Jobs and free keys as usual; a key used since the snapshot is a serialization failure, to be repeated."""
    with engine_over(rig.dsn) as engine:
        with engine.connect().execution_options(isolation_level=level) as connection:
            connection.execute(text("SELECT count(*) FROM fencepost.jobs"))
            CALLERS.submit_in_sync(connection, BATCH)
            await rig.submit(keyed("since"))
            with pytest.raises(Exception, match="could not serialize"):
                CALLERS.submit_in_sync(connection, [keyed("since")])
            connection.rollback()
        with engine.connect().execution_options(isolation_level=level) as connection:
            [answer] = CALLERS.submit_in_sync(connection, [keyed("since")])
            assert not answer.created


async def test_workers_are_told_when_the_caller_commits_and_only_then(rig: Rig) -> None:
    """One notification per queue, sent by the caller's commit; a rollback sends none."""
    async with await psycopg.AsyncConnection.connect(rig.dsn, autocommit=True) as ear:
        await ear.execute(f'LISTEN "{channel("fencepost")}"'.encode())
        async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
            await CALLERS.submit_in(connection, [submission(queue="never")])
            await connection.rollback()
            await CALLERS.submit_in(connection, [submission(queue=name) for name in "abab"])
            await connection.commit()
        heard = [note.payload async for note in ear.notifies(timeout=5, stop_after=2)]
    assert sorted(heard) == ["a", "b"]
