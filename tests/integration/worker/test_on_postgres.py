"""Workers over real databases: overlapping claims and reports, races, broken connections."""

import asyncio
import random
from datetime import timedelta

import psycopg

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.application.context import Context
from fencepost.domain.commands import Cancel, Origin
from fencepost.domain.vocabulary import State, Verdict
from support.live import WORKER, LiveWorker, counted, finished, rows, submit

ENDINGS = "SELECT name, count(*) FROM fencepost.job_events GROUP BY name"
RUNNING = "SELECT count(*) FROM fencepost.jobs WHERE state = 'running'"
SOME_WAIT = "SELECT CAST(count(*) > 5 AS integer) FROM fencepost.jobs WHERE state = 'running'"
TWICE = """SELECT job_id FROM fencepost.job_events WHERE state IN ('succeeded', 'dead', 'cancelled')
    GROUP BY job_id HAVING count(*) > 1"""


async def test_two_workers_share_the_work_and_do_nothing_twice(database: str) -> None:
    """A thousand jobs, two workers of twenty slots: each job is claimed once and succeeds once."""
    ran: list[int] = []

    async def work(ctx: Context) -> int:
        ran.append(ctx.job_id)
        return ctx.job_id

    jobs = await submit(database, 1_000)
    async with LiveWorker(database, work), LiveWorker(database, work):
        await finished(database)
    assert sorted(ran) == sorted(jobs)
    assert dict(await rows(database, ENDINGS)) == dict.fromkeys(("enqueued", "claimed", "succeeded"), 1_000)
    assert await rows(database, "SELECT 1 FROM fencepost.workers") == []


async def test_a_cancel_at_the_moment_of_success_has_one_end(database: str) -> None:
    """B197: Three hundred races: one terminal event each, and the caller's answer fits it."""

    async def work(ctx: Context) -> None:
        await asyncio.sleep(random.random() * 0.01)

    store_database = Database(database)
    store = PostgresJobStore(store_database)
    answers: dict[int, Verdict] = {}

    async def race(job: int) -> None:
        await asyncio.sleep(random.random() * 0.5)
        verdict = Verdict.BUSY
        while verdict is Verdict.BUSY:
            (verdict,) = await store.operate([job], Cancel(origin=Origin("user:test", "request-1")))
        answers[job] = verdict

    async with LiveWorker(database, work):
        await asyncio.gather(*map(race, await submit(database, 300)))
        await finished(database)
    await store_database.close()
    assert await rows(database, TWICE) == []
    states = dict(await rows(database, "SELECT job_id, CAST(state AS text) FROM fencepost.jobs"))
    assert set(states.values()) <= {"succeeded", "cancelled"}
    assert {states[job] for job, verdict in answers.items() if verdict is Verdict.REFUSED} <= {"succeeded"}
    asked = {
        row[0]
        for row in await rows(database, "SELECT job_id FROM fencepost.job_events WHERE actor LIKE 'user%'")
    }
    assert {job for job, state in states.items() if state == "cancelled"} <= asked


async def test_a_worker_survives_the_loss_of_its_connections(database: str) -> None:
    """They are cut ten times while five hundred jobs run: every job succeeds exactly once, in the end."""

    async def work(ctx: Context) -> None:
        await asyncio.sleep(0.02)

    await submit(database, 500)
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '{WORKER}%'"
    async with LiveWorker(database, work):
        for _ in range(10):
            await asyncio.sleep(0.1)
            await rows(database, cut)
        await finished(database)
    events = dict(await rows(database, ENDINGS))
    assert events["succeeded"] == 500
    assert events["claimed"] - events.get("released", 0) == 500
    assert await rows(database, TWICE) == []


async def test_a_row_locked_by_a_stranger_holds_up_only_itself(database: str) -> None:
    """B108: Its report is asked again until the lock is gone; the other jobs of the batch have their verdict."""
    begun, go = asyncio.Event(), asyncio.Event()

    async def work(ctx: Context) -> None:
        begun.set()
        await go.wait()

    first, *_ = await submit(database, 6)
    held = f"SELECT CAST(state AS text) FROM fencepost.jobs WHERE job_id = {first}"
    others = f"SELECT count(*) FROM fencepost.jobs WHERE state = 'succeeded' AND job_id <> {first}"
    async with LiveWorker(database, work):
        await asyncio.wait_for(begun.wait(), 10)
        await locked_while(database, first, go, others)
        await finished(database)
    assert await rows(database, held) == [(State.SUCCEEDED,)]


class Gated:
    """Jobs that are quick, but for those that are told to wait; ``began`` has these."""

    def __init__(self) -> None:
        """Closed."""
        self.go = asyncio.Event()
        self.began: list[int] = []

    async def __call__(self, ctx: Context, slow: bool = False) -> None:
        """Wait if told so."""
        if slow:
            self.began.append(ctx.job_id)
            await self.go.wait()

    async def hold(self, dsn: str, lease: timedelta) -> list[int]:
        """Let the worker with five slots measure quick jobs, and then hold more slow ones than it has slots."""
        await submit(dsn, 500)
        await finished(dsn)
        jobs = await submit(dsn, 30, payload='{"slow":true}', lease=lease)
        await counted(dsn, SOME_WAIT, 1)
        return jobs


async def test_a_pause_brings_back_what_waits_for_a_slot(database: str) -> None:
    """Long before a tenth of the lease is over, and nothing more begins until the queue is resumed."""
    work, operator, user = Gated(), Database(database), Origin("user:test", "request-1")
    queues = PostgresQueueStore(operator)
    async with LiveWorker(database, work, slots=5):
        jobs = await work.hold(database, timedelta(minutes=10))
        assert await queues.pause("default", user) is Verdict.ACCEPTED
        await counted(database, RUNNING, 5, within=30)
        assert work.began == jobs[:5]
        work.go.set()
        await counted(database, RUNNING, 0)
        assert work.began == jobs[:5]
        await queues.resume("default", user)
        await finished(database)
    await operator.close()
    assert sorted(work.began) == jobs
    events = dict(await rows(database, ENDINGS))
    assert events["succeeded"] == 530
    assert events["claimed"] - events["released"] == 530


async def test_what_waits_behind_handlers_that_have_become_slow_goes_to_another_worker(database: str) -> None:
    """A tenth of the lease, and the second worker has them; each job runs once."""
    slow, quick = Gated(), Gated()
    quick.go.set()
    async with LiveWorker(database, slow, slots=5):
        jobs = await slow.hold(database, timedelta(seconds=5))
        async with LiveWorker(database, quick):
            await counted(database, RUNNING, 5)
            await counted(database, "SELECT count(*) FROM fencepost.jobs WHERE state = 'succeeded'", 525)
            slow.go.set()
            await finished(database)
    assert (slow.began, sorted(quick.began)) == (jobs[:5], jobs[5:])
    assert await rows(database, TWICE) == []
    assert {attempt for [attempt] in await rows(database, "SELECT attempt FROM fencepost.jobs")} <= {1, 2}


async def locked_while(dsn: str, job_id: int, go: asyncio.Event, others: str) -> None:
    """Hold one job's row until the five others have succeeded."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute("SELECT FROM fencepost.jobs WHERE job_id = %s FOR UPDATE", [job_id])
        go.set()
        await counted(dsn, others, 5)
        await connection.rollback()
