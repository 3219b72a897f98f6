"""Where an app's connections live and when they go: loops, threads, forks, several apps."""

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from fencepost import Context, Fencepost, MigrationsPending, Unavailable
from fencepost.domain.errors import InvalidInput
from fencepost.entrypoints.library.job_type import JobType
from support.polling import eventually

NAMED = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fencepost' AND datname = current_database()"


def new_app(dsn: str) -> tuple[Fencepost, JobType[...]]:
    """An app with one job type."""
    app = Fencepost(dsn)

    @app.job
    async def work(ctx: Context, number: int = 0) -> None: ...

    return app, work


def ask(dsn: str, query: str) -> int:
    """The one number a query gives."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def none_left(dsn: str) -> bool:
    """Whether no connection of ours is left; the server needs a moment to see them go."""
    return eventually(lambda: ask(dsn, NAMED) == 0)


def jobs(dsn: str) -> int:
    """How many jobs there are."""
    return ask(dsn, "SELECT count(*) FROM fencepost.jobs")


def test_loops_one_after_the_other_leave_nothing_behind(emptied: str) -> None:
    """As in Flask's async views or a test suite: each ends with its connections closed, and nobody had to ask."""
    app, work = new_app(emptied)
    for number in range(3):
        asyncio.run(work.submit(number))
        assert none_left(emptied)
    assert jobs(emptied) == 3
    gc.collect()
    assert app.handlers.types == {"work"}


def test_a_loop_closed_without_a_shutdown_is_cleared_by_the_next(emptied: str) -> None:
    """What it left behind is closed when the app is used on another loop."""
    _, work = new_app(emptied)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(work.submit())
    loop.close()
    assert ask(emptied, NAMED) == 1
    asyncio.run(_twice(work))
    assert none_left(emptied)


async def _twice(work: JobType[...]) -> None:
    await work.submit()
    await work.submit()


def test_loops_in_several_threads_do_not_meet(emptied: str) -> None:
    """Four loops at once, each with connections of its own."""
    _, work = new_app(emptied)
    together = threading.Barrier(4)

    def run() -> None:
        together.wait()
        asyncio.run(_twice(work))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert jobs(emptied) == 8
    assert none_left(emptied)


async def test_an_app_can_be_used_again_after_its_close(emptied: str) -> None:
    """Closing leaves the connections, not the app: the next use opens new ones."""
    app, work = new_app(emptied)
    async with app:
        await work.submit()
        work.submit_sync()
    assert await asyncio.to_thread(none_left, emptied)
    await work.submit()
    work.submit_sync()
    await app.close()
    await app.close()
    assert await asyncio.to_thread(none_left, emptied)
    assert jobs(emptied) == 4


async def test_closing_lets_submits_in_progress_finish(emptied: str) -> None:
    """Their connections are closed when they come back."""
    app, work = new_app(emptied)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work.submit(number)) for number in range(20)]
        await asyncio.sleep(0)
        await app.close()
    assert len({task.result().job_id for task in tasks}) == 20
    await app.close()
    assert await asyncio.to_thread(none_left, emptied)


async def test_an_app_forgotten_in_a_running_loop_closes_itself(emptied: str) -> None:
    """Its connections go when nobody refers to it any more."""
    app = Fencepost(emptied)
    assert await app.get(1) is None
    assert await asyncio.to_thread(ask, emptied, NAMED) == 1
    del app
    async with asyncio.timeout(10):
        while await asyncio.to_thread(ask, emptied, NAMED):  # noqa: ASYNC110  the server's view rings no bell
            await asyncio.sleep(0.02)


def test_a_forgotten_app_closes_its_synchronous_connections(emptied: str) -> None:
    """No ResourceWarning, no connection left."""
    app, work = new_app(emptied)
    work.submit_sync()
    del app, work
    gc.collect()
    assert none_left(emptied)


async def test_two_apps_in_one_process_know_nothing_of_each_other(emptied: str) -> None:
    """Types may be called the same; each has its own handlers."""
    (one, work), (two, same) = new_app(emptied), new_app(emptied)

    @one.job
    async def other(ctx: Context) -> None: ...

    async with one, two:
        first, second, third = await work.submit(), await same.submit(), await other.submit()
    assert len({first.job_id, second.job_id, third.job_id}) == 3
    assert (set(one.handlers.types), set(two.handlers.types)) == ({"work", "other"}, {"work"})


async def test_entering_an_app_finds_out_that_the_database_is_unreachable() -> None:
    """Nothing connects before."""
    app = Fencepost("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(Unavailable):
        await app.__aenter__()
    await app.close()


async def test_naming_no_database_is_said_at_the_first_submit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Importing the module that holds the app needs no database; using it says how to name one."""
    for name in (
        "FENCEPOST_DATABASE_URL",
        "DATABASE_URL",
        "PGHOST",
        "PGHOSTADDR",
        "PGPORT",
        "PGUSER",
        "PGDATABASE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    app = Fencepost()

    @app.job
    async def work(ctx: Context) -> None: ...

    for submit in (work.submit, lambda: asyncio.to_thread(work.submit_sync)):
        with pytest.raises(InvalidInput, match="database_url: names no database"):
            await submit()


async def test_the_schema_is_the_apps(emptied: str) -> None:
    """An app in a schema that does not exist cannot submit, whoever else can."""
    app = Fencepost(emptied, schema="elsewhere")

    @app.job
    async def work(ctx: Context) -> None: ...

    async with app:
        with pytest.raises(MigrationsPending, match="elsewhere"):
            await work.submit()


def in_child(work: Callable[[], object]) -> int:
    """Run something in a forked child and return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_a_forked_child_has_connections_of_its_own(emptied: str) -> None:
    """As in a server that loads the app before it forks: neither side disturbs the other's connection."""
    app, work = new_app(emptied)
    work.submit_sync()
    before = ask(emptied, NAMED)

    def child() -> None:
        work.submit_sync()
        assert ask(emptied, NAMED) == before + 1
        asyncio.run(_twice(work))
        app.close_sync()
        gc.collect()

    assert in_child(child) == 0
    work.submit_sync()
    assert ask(emptied, NAMED) == before
    app.close_sync()
    assert jobs(emptied) == 5
    assert none_left(emptied)


SCRIPT = """
    import asyncio, os, sys
    from fencepost import Context, Fencepost

    app = Fencepost()

    @app.job
    def work(ctx: Context, number: int = 0) -> None: ...

    work.submit_sync()
    asyncio.run(work.submit(1))
    {more}
    work.submit_sync()
"""
FORKING = "child = os.fork(); child or sys.exit(work.submit_sync() and 0); os.waitpid(child, 0)"


@pytest.mark.parametrize(
    ("more", "strictness", "expected"),
    [
        ("", ["-X", "dev", "-W", "error::ResourceWarning"], 3),
        ("sys.exit(0)", ["-X", "dev", "-W", "error::ResourceWarning"], 2),
        (FORKING, [], 4),
    ],
    ids=["to the end", "exit", "fork"],
)
def test_a_script_may_end_without_closing(
    emptied: str, more: str, strictness: list[str], expected: int
) -> None:
    """Nothing is left and nothing is said; a forked child that ends does not end its parent's connection."""
    program = textwrap.dedent(SCRIPT.format(more=more))
    done = subprocess.run(
        [sys.executable, *strictness, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "FENCEPOST_DATABASE_URL": emptied},
    )
    assert done.stderr == ""
    assert none_left(emptied)
    assert jobs(emptied) == expected


def test_loops_of_other_makers_are_cleared_the_same_way(emptied: str) -> None:
    """uvloop's, and those that Django's ``async_to_sync`` makes for one call each."""
    uvloop = pytest.importorskip("uvloop")
    asgiref = pytest.importorskip("asgiref.sync")
    _, work = new_app(emptied)
    uvloop.run(_twice(work))
    assert none_left(emptied)
    for number in range(3):
        asgiref.async_to_sync(work.submit)(number)
        assert none_left(emptied)
    assert jobs(emptied) == 5
