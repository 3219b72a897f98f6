"""A database whose migrations have not run."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from fencepost import Context, Fencepost, FencepostError, MigrationsPending
from fencepost.entrypoints.library.job_type import JobType

CURE = "run `fencepost db migrate`"


@pytest.fixture
def app(emptied: str) -> Fencepost:
    """An app over a schema that is not there."""
    return Fencepost(emptied, schema="elsewhere")


@pytest.fixture
def work(app: Fencepost) -> JobType[...]:
    """A job type."""

    @app.job
    async def work(ctx: Context) -> None: ...

    return work


CALLS: list[Callable[[Fencepost], Any]] = [
    lambda app: app.get(1),
    lambda app: app.history(1),
    lambda app: app.cancel(1),
    lambda app: app.pause("mail"),
    lambda app: app.resume("mail"),
]


@pytest.mark.parametrize("call", CALLS)
async def test_every_call_names_the_cure(app: Fencepost, call: Callable[[Fencepost], Any]) -> None:
    """Not the driver's words about a table that is not there, and an error that callers may expect."""
    with pytest.raises(FencepostError, match=CURE):
        await call(app)
    await app.close()


async def test_submits_name_the_cure(app: Fencepost, work: JobType[...]) -> None:
    """In a transaction of our own, in either colour, one job or many, with a key or without."""
    for submit in (work.submit, work.options(key="k").submit, lambda: app.submit_many([work.request()])):
        with pytest.raises(MigrationsPending, match=CURE):
            await submit()
    with pytest.raises(MigrationsPending, match=CURE):
        work.submit_sync()
    await app.close()


def test_submits_in_a_callers_transaction_name_the_cure(emptied: str, work: JobType[...]) -> None:
    """What was aborted is no more than what PostgreSQL aborts: a savepoint of the caller's saves the rest."""
    with psycopg.connect(emptied) as connection:
        with pytest.raises(MigrationsPending, match=CURE), connection.transaction():
            work.options(tx=connection).submit_sync()
        assert connection.execute("SELECT 1").fetchone() == (1,)
    engine = create_engine(emptied.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as alchemy, pytest.raises(MigrationsPending, match=CURE):
        work.options(tx=alchemy, key="k").submit_sync()
    engine.dispose()


async def test_submits_in_an_asynchronous_transaction_do_so_too(emptied: str, work: JobType[...]) -> None:
    """SQLAlchemy's wrapping does not hide what PostgreSQL said."""
    engine = create_async_engine(emptied.replace("postgresql://", "postgresql+psycopg://"))
    async with engine.connect() as connection:
        with pytest.raises(MigrationsPending, match=CURE):
            await work.options(tx=connection).submit()
    await engine.dispose()
