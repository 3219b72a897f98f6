"""What handlers can do, through a real worker."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from fencepost import Context, Discard, Fencepost, LeaseLost, Retry, Snooze, State
from fencepost.domain.commands import Revoke
from support.programs import ended, found, names, reached, working

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
WRITE = text("INSERT INTO public.sent VALUES (:word)")


@dataclass
class Letter:
    """A payload with structure."""

    to: str
    due: datetime


@pytest.fixture
async def sent(emptied: str) -> AsyncIterator[Any]:
    """A table of the user's, and a way to look into it."""

    async def look() -> list[str]:
        async with await psycopg.AsyncConnection.connect(emptied) as connection:
            cursor = await connection.execute("SELECT word FROM public.sent ORDER BY word")
            return [word for (word,) in await cursor.fetchall()]

    async with await psycopg.AsyncConnection.connect(emptied, autocommit=True) as connection:
        await connection.execute("CREATE TABLE public.sent (word text UNIQUE)")
        yield look
        await connection.execute("DROP TABLE public.sent")


async def test_a_handler_gets_objects_and_its_answer_is_the_result(app: Fencepost, emptied: str) -> None:
    """A dataclass and a datetime arrive as such; what is returned is stored as JSON."""
    got: list[Any] = []

    @app.job
    async def post(ctx: Context, letter: Letter, at: datetime, copies: int = 1) -> dict[str, int]:
        got.extend((letter, at, copies))
        return {"copies": copies}

    async with working(app, emptied):
        job = await ended(app, (await post.submit(Letter("ann", MOMENT), at=MOMENT)).job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, '{"copies":1}')
    assert got == [Letter("ann", MOMENT), MOMENT, 1]


async def test_plain_functions_run_in_threads(app: Fencepost, emptied: str) -> None:
    """Several at once, none of them on the loop's thread."""
    together = threading.Barrier(3)
    threads: set[int] = set()

    @app.job
    def work(ctx: Context, number: int) -> int:
        threads.add(threading.get_ident())
        together.wait(20)
        return number * 2

    async with working(app, emptied):
        answers = [await work.submit(number) for number in range(3)]
        results = [(await ended(app, answer.job_id)).result for answer in answers]
    assert results == ["0", "2", "4"]
    assert len(threads) == 3
    assert threading.get_ident() not in threads


async def test_the_effects_key_is_stable_while_the_token_grows(app: Fencepost, emptied: str) -> None:
    """Over every attempt, whether the submitter chose the key or not."""
    seen: dict[int, list[tuple[tuple[int, int], str, int]]] = {}

    @app.job(retry=[0])
    async def work(ctx: Context) -> None:
        seen.setdefault(ctx.job_id, []).append((ctx.token, ctx.idempotency_key, ctx.failures))
        if ctx.attempt < 3:
            raise RuntimeError("again")

    async with working(app, emptied):
        one, two = await work.submit(), await work.options(effect_key="charge-7").submit()
        for answer in (one, two):
            await ended(app, answer.job_id)
    for answer, key in ((one, f"job-{one.job_id}"), (two, "charge-7")):
        assert seen[answer.job_id] == [((answer.job_id, n), key, n - 1) for n in (1, 2, 3)]


async def test_outcomes_are_raised(app: Fencepost, emptied: str) -> None:
    """Snooze costs no budget, Retry overrides the policy's wait, Discard ends, anything else is retried by policy."""

    @app.job(max_attempts=2, retry="1h")
    async def work(ctx: Context, outcome: str) -> str:
        if ctx.attempt == 1:
            raise {"snooze": Snooze("0s"), "retry": Retry(0, "later"), "discard": Discard("no use")}[outcome]
        return "done"

    async with working(app, emptied):
        answers = {name: await work.submit(name) for name in ("snooze", "retry", "discard")}
        jobs = {name: await ended(app, answer.job_id) for name, answer in answers.items()}
    assert [jobs[name].state for name in answers] == [State.SUCCEEDED, State.SUCCEEDED, State.DEAD]
    assert [jobs[name].failures for name in ("snooze", "retry")] == [0, 1]
    assert await names(app, jobs["snooze"].job_id) == [
        "enqueued",
        "claimed",
        "snoozed",
        "claimed",
        "succeeded",
    ]
    assert (await app.history(jobs["discard"].job_id))[-1].data["error"]["message"] == "no use"


async def test_a_delay_that_is_none_is_a_failure_that_says_so(app: Fencepost, emptied: str) -> None:
    """A handler that raises Snooze with nonsense is not snoozed, and not lost."""

    @app.job(max_attempts=1)
    async def work(ctx: Context) -> None:
        raise Snooze("5")

    async with working(app, emptied):
        job = await ended(app, (await work.submit()).job_id)
    assert job.state is State.DEAD
    assert "duration such as 30s" in (await app.history(job.job_id))[-1].data["error"]["message"]


async def test_a_payload_of_another_version_fails_with_the_argument_named(
    app: Fencepost, emptied: str
) -> None:
    """It was submitted for a handler that still had another argument."""
    older = Fencepost(emptied)

    @older.job("work", max_attempts=1)
    async def before(ctx: Context, user: str, shout: bool) -> None: ...

    @app.job
    async def work(ctx: Context, user: str, copies: int = 1) -> None: ...

    async with older, working(app, emptied):
        job = await ended(app, (await before.submit("ann", shout=True)).job_id)
    error = (await app.history(job.job_id))[-1].data["error"]
    assert (error["type"], job.state) == ("bad_payload", State.DEAD)
    assert "payload.shout" in error["message"]


async def test_a_cancel_reaches_a_coroutine_and_a_thread(app: Fencepost, emptied: str) -> None:
    """The coroutine is interrupted; the plain function looks at ``ctx.cancelled`` and stops."""
    begun = threading.Semaphore(0)

    @app.job(lease="1s")
    async def wait(ctx: Context) -> None:
        begun.release()
        await asyncio.Event().wait()

    @app.job(lease="1s")
    def look(ctx: Context) -> None:
        begun.release()
        while not ctx.cancelled:
            threading.Event().wait(0.01)

    async with working(app, emptied):
        ids = [(await wait.submit()).job_id, (await look.submit()).job_id]
        for job_id in ids:
            await asyncio.to_thread(begun.acquire)
            await reached(app, job_id, State.RUNNING)
        for job_id in ids:
            await app.cancel(job_id, reason="not wanted", actor="user:ann")
        for job_id in ids:
            assert (await ended(app, job_id)).state is State.CANCELLED
            assert (await names(app, job_id))[-2:] == ["cancel_requested", "cancelled"]


async def test_a_timeout_is_a_failure(app: Fencepost, emptied: str) -> None:
    """The handler is stopped and the attempt counts."""

    @app.job(timeout="50ms", max_attempts=1)
    async def slow(ctx: Context) -> None:
        assert ctx.deadline is not None
        await asyncio.Event().wait()

    async with working(app, emptied):
        job = await ended(app, (await slow.submit()).job_id)
    assert (job.state, job.failures) == (State.DEAD, 1)
    assert (await app.history(job.job_id))[-1].data["error"]["type"] == "timeout"


async def test_a_handler_knows_its_job(app: Fencepost, emptied: str) -> None:
    """Job, type, queue, attempt, when it was due; and a logger that says which."""
    seen: list[Any] = []

    @app.job("mail:look", queue="mail", timeout=None)
    async def look(ctx: Context) -> None:
        seen.extend(
            (ctx.job_id, ctx.type, ctx.queue, ctx.attempt, ctx.failures, ctx.scheduled_for, ctx.deadline)
        )
        await ctx.heartbeat()
        ctx.log.info("looked")

    async with working(app, emptied):
        job_id = (await look.submit()).job_id
        job = await ended(app, job_id)
    assert seen == [job_id, "mail:look", "mail", 1, 0, job.submitted_at, None]


async def test_writes_commit_together_with_success(app: Fencepost, emptied: str, sent: Any) -> None:
    """In a coroutine and in a thread; the job has succeeded when the block is left."""

    @app.job
    async def asynchronous(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, {"word": "coroutine"})
            ctx.set_result({"sent": 1})

    @app.job
    def synchronous(ctx: Context) -> None:
        with ctx.transaction_sync() as connection:
            connection.execute(WRITE, {"word": "thread"})

    async with working(app, emptied):
        jobs = [await ended(app, (await kind.submit()).job_id) for kind in (asynchronous, synchronous)]
    assert [job.state for job in jobs] == [State.SUCCEEDED, State.SUCCEEDED]
    assert jobs[0].result == '{"sent":1}'
    assert await sent() == ["coroutine", "thread"]


async def test_a_transaction_that_raises_leaves_nothing(app: Fencepost, emptied: str, sent: Any) -> None:
    """The first attempt's write is rolled back, the second's is there once."""

    @app.job(retry=[0])
    async def work(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, {"word": f"attempt {ctx.attempt}"})
            if ctx.attempt == 1:
                raise RuntimeError("halfway")

    async with working(app, emptied):
        job = await ended(app, (await work.submit()).job_id)
    assert (job.state, job.failures) == (State.SUCCEEDED, 1)
    assert await sent() == ["attempt 2"]


async def test_a_transaction_after_the_lease_was_lost_leaves_nothing(
    app: Fencepost, emptied: str, sent: Any
) -> None:
    """An operator revoked it while the handler worked: only the next attempt's writes stay."""
    begun, go = asyncio.Event(), asyncio.Event()
    lost: list[int] = []

    @app.job
    async def work(ctx: Context) -> None:
        try:
            async with ctx.transaction() as connection:
                await connection.execute(WRITE, {"word": f"attempt {ctx.attempt}"})
                if ctx.attempt == 1:
                    begun.set()
                    await asyncio.shield(go.wait())
        except LeaseLost:
            lost.append(ctx.attempt)
            raise

    async with working(app, emptied):
        job_id = (await work.submit()).job_id
        await asyncio.wait_for(begun.wait(), 20)
        await app.operate(job_id, Revoke(origin=app.origin("user:ann", reason="stuck")))
        go.set()
        job = await ended(app, job_id)
    assert (job.state, job.attempt) == (State.SUCCEEDED, 2)
    assert await sent() == ["attempt 2"]
    assert lost == [1]


async def test_a_paused_queue_is_not_claimed_from(app: Fencepost, emptied: str) -> None:
    """Its jobs wait until it is resumed; other queues go on. Doing either twice changes nothing."""

    @app.job(queue="mail")
    async def letter(ctx: Context) -> None: ...

    @app.job
    async def other(ctx: Context) -> None: ...

    async with working(app, emptied):
        assert await app.pause("mail", reason="upset", actor="user:ann") == "accepted"
        assert await app.pause("mail") == "already_applied"
        waiting = (await letter.submit()).job_id
        for _ in range(3):
            assert (await ended(app, (await other.submit()).job_id)).state is State.SUCCEEDED
        assert (await found(app, waiting)).state is State.PENDING
        assert await app.resume("mail") == "accepted"
        assert await app.resume("mail") == "already_applied"
        assert (await ended(app, waiting)).state is State.SUCCEEDED


async def test_handlers_submit_further_jobs(app: Fencepost, emptied: str) -> None:
    """In their own transaction: the follow-up is there exactly when the first has succeeded."""

    @app.job
    async def second(ctx: Context, first: int) -> None: ...

    @app.job(retry=[0])
    async def first(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            answer = await second.options(tx=connection).submit(ctx.job_id)
            ctx.set_result(answer.job_id)
            if ctx.attempt == 1:
                raise RuntimeError("halfway")

    async with working(app, emptied):
        job = await ended(app, (await first.submit()).job_id)
        follower = await ended(app, int(job.result or "0"))
    assert follower.payload == f'{{"first":{job.job_id}}}'
    async with await psycopg.AsyncConnection.connect(emptied) as connection:
        cursor = await connection.execute("SELECT count(*) FROM fencepost.jobs")
        assert await cursor.fetchone() == (2,)


async def test_a_delayed_job_is_not_early(app: Fencepost, emptied: str) -> None:
    """It starts when it is due, not a poll later."""

    @app.job
    async def work(ctx: Context) -> None: ...

    async with working(app, emptied, poll="30s"):
        job = await ended(app, (await work.options(delay="300ms").submit()).job_id)
        events = await app.history(job.job_id)
    waited = events[1].at - events[0].at
    assert timedelta(milliseconds=300) <= waited < timedelta(seconds=10)


async def test_unique_options_do_not_hold_up_a_retry(app: Fencepost, emptied: str) -> None:
    """While a failed job waits it is the answer to its like; it is retried, and the rest of the queue runs."""
    failed = asyncio.Event()

    @app.job(unique=True, retry="500ms")
    async def work(ctx: Context, account: str) -> None:
        if ctx.attempt == 1:
            failed.set()
            raise ConnectionError

    @app.job
    async def unrelated(ctx: Context) -> None: ...

    async with working(app, emptied):
        first = await work.submit("ann")
        await asyncio.wait_for(failed.wait(), 20)
        assert (await work.submit("ann")).job_id == first.job_id
        others = [await unrelated.submit() for _ in range(20)]
        for answer in (first, *others):
            assert (await ended(app, answer.job_id)).state is State.SUCCEEDED
        assert (await work.submit("ann")).created
    assert (await found(app, first.job_id)).attempt == 2


async def test_a_back_dated_job_goes_first_among_its_priority(app: Fencepost, emptied: str) -> None:
    """Its time is kept as it is, and older times come first; a higher priority still comes before it."""
    ran: list[str] = []

    @app.job
    async def work(ctx: Context, name: str) -> None:
        ran.append(name)

    for number in range(3):
        await work.submit(f"job {number}")
    await work.options(run_at=datetime(1970, 1, 1, tzinfo=UTC)).submit("back-dated")
    last = await work.options(priority=9).submit("urgent")
    assert (await found(app, last.job_id - 1)).run_at.year == 1970
    async with working(app, emptied, queues="default:1"):
        for job_id in range(1, last.job_id + 1):
            await ended(app, job_id)
    assert ran == ["urgent", "back-dated", "job 0", "job 1", "job 2"]
