"""``options(tx=…)``: the job commits or vanishes with the caller's transaction."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from fencepost import Context, Fencepost, InvalidInput
from fencepost.entrypoints.library.job_type import JobType

Submit = Callable[[Any], Any]


@pytest.fixture
def work(app: Fencepost) -> JobType[...]:
    """A job type."""

    @app.job
    async def work(ctx: Context, number: int) -> None: ...

    return work


def alchemy(dsn: str) -> str:
    """The same address for SQLAlchemy."""
    return dsn.replace("postgresql://", "postgresql+psycopg://")


def in_session(dsn: str, end: str, submit: Submit) -> None:
    """SQLAlchemy's Session."""
    engine = create_engine(alchemy(dsn))
    with Session(engine) as session:
        submit(session)
        getattr(session, end)()
    engine.dispose()


def in_connection(dsn: str, end: str, submit: Submit) -> None:
    """SQLAlchemy's Connection."""
    engine = create_engine(alchemy(dsn))
    with engine.connect() as connection:
        submit(connection)
        getattr(connection, end)()
    engine.dispose()


def in_psycopg(dsn: str, end: str, submit: Submit) -> None:
    """Psycopg's Connection."""
    with psycopg.connect(dsn) as connection:
        submit(connection)
        getattr(connection, end)()


async def in_async_session(dsn: str, end: str, submit: Submit) -> None:
    """SQLAlchemy's AsyncSession."""
    engine = create_async_engine(alchemy(dsn))
    async with AsyncSession(engine) as session:
        await submit(session)
        await getattr(session, end)()
    await engine.dispose()


async def in_async_connection(dsn: str, end: str, submit: Submit) -> None:
    """SQLAlchemy's AsyncConnection."""
    engine = create_async_engine(alchemy(dsn))
    async with engine.connect() as connection:
        await submit(connection)
        await getattr(connection, end)()
    await engine.dispose()


async def in_async_psycopg(dsn: str, end: str, submit: Submit) -> None:
    """Psycopg's AsyncConnection."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await submit(connection)
        await getattr(connection, end)()


SYNC = pytest.mark.parametrize("within", [in_session, in_connection, in_psycopg], ids=lambda f: f.__doc__)
ASYNC = pytest.mark.parametrize(
    "within", [in_async_session, in_async_connection, in_async_psycopg], ids=lambda f: f.__doc__
)


async def stored(dsn: str) -> int:
    """How many jobs there are."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        row = await (await connection.execute("SELECT count(*) FROM fencepost.jobs")).fetchone()
    assert row is not None
    return int(row[0])


@SYNC
async def test_a_synchronous_transaction_decides(
    emptied: str, work: JobType[...], within: Callable[[str, str, Submit], None]
) -> None:
    """Rolled back, there is no job and its key is free; committed, there is one."""
    for end, jobs in (("rollback", 0), ("commit", 1)):
        await asyncio.to_thread(within, emptied, end, lambda tx: work.options(tx=tx, key="k").submit_sync(1))
        assert await stored(emptied) == jobs


@ASYNC
async def test_an_asynchronous_transaction_decides(
    emptied: str, work: JobType[...], within: Callable[[str, str, Submit], Awaitable[None]]
) -> None:
    """Rolled back, there is no job and its key is free; committed, there is one."""
    for end, jobs in (("rollback", 0), ("commit", 1)):
        await within(emptied, end, lambda tx: work.options(tx=tx, key="k").submit(1))
        assert await stored(emptied) == jobs


@ASYNC
async def test_a_batch_goes_with_the_transaction(
    emptied: str, app: Fencepost, work: JobType[...], within: Callable[[str, str, Submit], Awaitable[None]]
) -> None:
    """As one job does."""
    for end, jobs in (("rollback", 0), ("commit", 3)):
        await within(
            emptied, end, lambda tx: app.submit_many([work.request(number) for number in range(3)], tx=tx)
        )
        assert await stored(emptied) == jobs


async def test_an_asynchronous_transaction_needs_await(emptied: str, work: JobType[...]) -> None:
    """``submit_sync`` with one says what to do instead."""
    async with await psycopg.AsyncConnection.connect(emptied) as connection:
        with pytest.raises(InvalidInput, match="tx: is asynchronous: use `await submit"):
            work.options(tx=connection).submit_sync(1)


async def test_a_synchronous_transaction_can_be_used_from_a_coroutine(
    emptied: str, work: JobType[...]
) -> None:
    """It blocks the event loop, as that connection always does."""
    with psycopg.connect(emptied) as connection:
        await work.options(tx=connection).submit(1)
    assert await stored(emptied) == 1


async def test_what_is_no_transaction_is_refused(emptied: str, work: JobType[...]) -> None:
    """The error names ``tx`` and what it may be."""
    for nonsense in (emptied, object(), create_engine("postgresql+psycopg://")):
        with pytest.raises(InvalidInput, match="tx: must be a SQLAlchemy session"):
            await work.options(tx=nonsense).submit(1)


async def test_a_wrong_argument_leaves_the_transaction_usable(emptied: str, work: JobType[...]) -> None:
    """It is refused before anything is sent."""
    with psycopg.connect(emptied) as connection:
        with pytest.raises(InvalidInput, match=r"payload\.number"):
            work.options(tx=connection).submit_sync("x")
        work.options(tx=connection).submit_sync(1)
    assert await stored(emptied) == 1


async def test_callers_with_a_transaction_need_no_address(
    emptied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app of a program that only submits in its own transactions never connects by itself."""
    for name in ("FENCEPOST_DATABASE_URL", "DATABASE_URL", "PGHOST"):
        monkeypatch.delenv(name, raising=False)
    app = Fencepost()

    @app.job
    async def lone(ctx: Context) -> None: ...

    async with await psycopg.AsyncConnection.connect(emptied) as connection:
        await lone.options(tx=connection).submit()
    assert await stored(emptied) == 1
