"""``ctx.transaction()``: the handler's writes are there exactly when its job has succeeded."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from fencepost.adapters.postgres import completing
from fencepost.adapters.postgres.transactions import PostgresTransactions
from fencepost.domain.commands import Fail, JobError, Requeue, Revoke, Succeed
from fencepost.domain.errors import InvalidInput, LeaseLost, Unavailable
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.proxy import Proxy, Trouble
from support.rig import USER, WORKER, Rig, rig_over, success

WRITE = text("INSERT INTO public.effects VALUES (:word)")


@pytest.fixture(autouse=True)
async def effects(rig: Rig) -> AsyncIterator[None]:
    """A table of the handlers' own."""
    await rig.ask("CREATE TABLE public.effects (word text UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    yield
    await rig.ask("DROP TABLE public.effects")


async def written(rig: Rig) -> list[str]:
    """What handlers have written."""
    return [word for (word,) in await rig.ask("SELECT word FROM public.effects ORDER BY word")]


Run = Callable[[PostgresTransactions, Callable[[], Succeed], str], Any]


async def in_coroutine(transactions: PostgresTransactions, report: Callable[[], Succeed], word: str) -> None:
    """A handler on the event loop."""
    async with transactions.open(report) as connection:
        await connection.execute(WRITE, {"word": word})


async def in_thread(transactions: PostgresTransactions, report: Callable[[], Succeed], word: str) -> None:
    """A handler in a thread."""

    def handler() -> None:
        with transactions.open_sync(report) as connection:
            connection.execute(WRITE, {"word": word})

    await asyncio.to_thread(handler)


both = pytest.mark.parametrize("run", [in_coroutine, in_thread], ids=["coroutine", "thread"])


@both
async def test_writes_and_success_are_one_transaction(rig: Rig, run: Run) -> None:
    """After the block the job has succeeded, with its result, and the write is there."""
    token = await rig.claimed()
    await run(rig.transactions, success(token), "done")
    job = await rig.job(token.job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, '{"done":true}')
    assert await written(rig) == ["done"]


@both
async def test_a_second_block_of_the_same_attempt_is_refused(rig: Rig, run: Run) -> None:
    """The first block has ended the attempt: what a second one writes is rolled back."""
    token = await rig.claimed()
    await run(rig.transactions, success(token), "first")
    with pytest.raises(LeaseLost):
        await run(rig.transactions, success(token), "second")
    assert await written(rig) == ["first"]


@both
async def test_a_lease_stolen_in_the_middle_rolls_the_writes_back(rig: Rig, run: Run) -> None:
    """While the handler works another attempt takes the job: its writes vanish, and the refusal is evidence."""
    token = await rig.claimed()
    stolen: list[Token] = []

    async def steal() -> None:
        async with rig_over(rig.dsn) as thief:
            await thief.jobs.operate([token.job_id], Revoke(origin=USER))
            stolen.extend(await thief.claim())

    def steal_first() -> Succeed:
        with ThreadPoolExecutor() as elsewhere:
            elsewhere.submit(asyncio.run, steal()).result()
        return success(token)()

    with pytest.raises(LeaseLost):
        await run(rig.transactions, steal_first, "zombie")
    assert await written(rig) == []
    [evidence] = await rig.log.evidence(token.job_id)
    assert (evidence.name, evidence.data["attempt"]) == ("report_refused", token.attempt)
    await run(rig.transactions, success(stolen[0]), "heir")
    assert await written(rig) == ["heir"]


@both
@pytest.mark.unproven("its thief changes a row and writes no event")
async def test_the_lease_is_lost_between_the_writes_and_the_report(rig: Rig, run: Run) -> None:
    """The thief holds the job's row when the handler ends: the report waits for it, and loses."""
    token = await rig.claimed()
    async with await psycopg.AsyncConnection.connect(rig.dsn) as thief:
        await thief.execute(
            "UPDATE fencepost.jobs SET attempt = attempt + 1, claim_id = gen_random_uuid() WHERE job_id = %s",
            [token.job_id],
        )
        loser = asyncio.create_task(run(rig.transactions, success(token), "zombie"))
        await rig.waiting()
        await thief.commit()
    with pytest.raises(LeaseLost):
        await loser
    assert await written(rig) == []


@both
async def test_a_row_locked_for_long_fails_the_attempt_without_writes(
    rig: Rig, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A human holds the job's row: the block gives up with Unavailable, and nothing was written."""
    monkeypatch.setattr(completing, "PATIENCE", "200ms")
    token = await rig.claimed()
    async with await psycopg.AsyncConnection.connect(rig.dsn) as human:
        await human.execute("SELECT FROM fencepost.jobs FOR UPDATE")
        with pytest.raises(Unavailable):
            await run(rig.transactions, success(token), "word")
        await human.rollback()
    assert await written(rig) == []
    assert (await rig.job(token.job_id)).state is State.RUNNING


@both
async def test_a_handlers_exception_rolls_back_and_comes_through(rig: Rig, run: Run) -> None:
    """What the handler raises leaves the block as it is, its writes are gone, the job still runs."""
    token = await rig.claimed()

    def broken() -> Succeed:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run(rig.transactions, broken, "word")
    assert await written(rig) == []
    assert (await rig.job(token.job_id)).state is State.RUNNING


@both
async def test_a_commit_that_the_server_refuses_is_the_handlers_error(rig: Rig, run: Run) -> None:
    """A deferred constraint fails at COMMIT: its own exception comes through, and the job has not succeeded."""
    await rig.ask("INSERT INTO public.effects VALUES ('taken')")
    token = await rig.claimed()
    with pytest.raises(IntegrityError):
        await run(rig.transactions, success(token), "taken")
    assert (await rig.job(token.job_id)).state is State.RUNNING


async def test_a_handler_cannot_commit_by_itself(rig: Rig) -> None:
    """A commit inside the block would break the promise: it is refused, and everything is rolled back."""
    token = await rig.claimed()

    async def handler(end: str) -> None:
        async with rig.transactions.open(success(token)) as connection:
            await connection.execute(WRITE, {"word": end})
            await getattr(connection, end)()

    for end in ("commit", "rollback"):
        with pytest.raises(InvalidInput, match="must not"):
            await handler(end)
    assert await written(rig) == []
    assert (await rig.job(token.job_id)).state is State.RUNNING


async def test_a_session_on_the_connection_may_commit_its_unit_of_work(rig: Rig) -> None:
    """An ORM session over the connection joins the transaction; what it commits is kept with the success."""
    token = await rig.claimed()
    async with rig.transactions.open(success(token)) as connection:
        session = AsyncSession(connection, join_transaction_mode="create_savepoint")
        await session.execute(WRITE, {"word": "unit of work"})
        await session.commit()
        await session.close()
        assert await written(rig) == []
    assert await written(rig) == ["unit of work"]


async def test_it_is_read_committed_whatever_the_database_has_as_default(rig: Rig) -> None:
    """B107: A default of SERIALIZABLE does not reach the handler's transaction."""
    [(name,)] = await rig.ask("SELECT current_database()")
    await rig.ask(f'ALTER DATABASE "{name}" SET default_transaction_isolation = serializable')
    try:
        token = await rig.claimed()
        async with rig.transactions.open(success(token)) as connection:
            assert await connection.scalar(text("SHOW transaction_isolation")) == "read committed"
    finally:
        await rig.ask(f'ALTER DATABASE "{name}" RESET default_transaction_isolation')


async def test_heartbeats_go_on_while_the_handler_works(rig: Rig) -> None:
    """B095: The handler's transaction does not hold the job's row before it ends."""
    token = await rig.claimed()
    async with rig.transactions.open(success(token)) as connection:
        await connection.execute(WRITE, {"word": "slow"})
        [answer] = await rig.jobs.heartbeat([token])
        assert answer.verdict is Verdict.ACCEPTED


@both
async def test_writes_are_there_once_when_the_reply_to_commit_is_lost(
    rig: Rig, proxy: Proxy, run: Run
) -> None:
    """The server committed and the answer got lost: the block ends as a success, without a second try."""
    token = await rig.claimed()
    transactions = PostgresTransactions(proxy.dsn, rig.database)
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    await run(transactions, success(token), "once")
    assert proxy.struck.is_set()
    assert await written(rig) == ["once"]
    assert [event.name for event in await rig.log.history(token.job_id)] == [
        "enqueued",
        "claimed",
        "succeeded",
    ]
    await transactions.close()


@both
async def test_a_commit_that_arrives_late_is_waited_for(rig: Rig, proxy: Proxy, run: Run) -> None:
    """COMMIT is still on its way when the client is cut off: the answer is not guessed before it has arrived."""
    token = await rig.claimed()
    transactions = PostgresTransactions(proxy.dsn, rig.database)
    proxy.trouble("COMMIT", Trouble.HELD)
    handler = asyncio.create_task(run(transactions, success(token), "late"))
    await rig.waiting()
    assert proxy.struck.is_set()
    assert not handler.done()
    proxy.deliver()
    await handler
    assert await written(rig) == ["late"]
    await transactions.close()


@both
async def test_a_commit_that_never_arrives_fails_the_attempt(rig: Rig, proxy: Proxy, run: Run) -> None:
    """The server never saw COMMIT: the writes are gone, the block raises, and the failure can be reported.

    Repeating the report instead would call the job a success without its handler's writes.
    """
    token = await rig.claimed()
    transactions = PostgresTransactions(proxy.dsn, rig.database)
    proxy.trouble("COMMIT", Trouble.HELD)
    handler = asyncio.create_task(run(transactions, success(token), "never"))
    await rig.waiting()
    proxy.lose()
    with pytest.raises(Unavailable, match="rolled back"):
        await handler
    assert await written(rig) == []
    assert (await rig.job(token.job_id)).state is State.RUNNING
    failed = Fail(origin=WORKER, token=token, error=JobError("Unavailable"), retry_in=timedelta(0))
    assert await rig.jobs.report([failed]) == [Verdict.ACCEPTED]
    await transactions.close()


async def test_a_failure_reported_in_doubt_cannot_overtake_the_commit(rig: Rig, proxy: Proxy) -> None:
    """Whatever a worker reports while COMMIT is on its way is busy before, and refused after."""
    token = await rig.claimed()
    transactions = PostgresTransactions(proxy.dsn, rig.database)
    proxy.trouble("COMMIT", Trouble.HELD)
    handler = asyncio.create_task(in_coroutine(transactions, success(token), "word"))
    await rig.waiting()
    failed = Fail(origin=WORKER, token=token, error=JobError("UnknownOutcome"))
    assert await rig.jobs.report([failed]) == [Verdict.BUSY]
    proxy.deliver()
    await handler
    assert await rig.jobs.report([failed]) == [Verdict.REFUSED]
    await transactions.close()


async def test_an_older_success_is_not_taken_for_this_attempts(rig: Rig) -> None:
    """A requeued job has a success in its history already; that of another attempt proves nothing."""
    token = await rig.claimed()
    await rig.jobs.report([success(token)()])
    await rig.jobs.operate([token.job_id], Requeue(origin=USER, fresh_effect_key=False))
    [second] = await rig.claim()
    problem = await rig.database.run(lambda: completing.fate("fencepost", second))
    assert isinstance(problem, Unavailable)
    assert await rig.database.run(lambda: completing.fate("fencepost", token)) is None


async def test_a_lost_reply_to_a_report_counts_as_success(rig: Rig, far_rig: Rig, proxy: Proxy) -> None:
    """B117: The repeated report finds its own ending: ``already_applied``, no failure, no retry."""
    token = await rig.claimed()
    proxy.trouble("WITH held", Trouble.REPLY_LOST)
    with pytest.raises(Exception, match="reply was lost"):
        await far_rig.jobs.report([success(token)()])
    assert await far_rig.jobs.report([success(token)()]) == [Verdict.ALREADY_APPLIED]
    job = await rig.job(token.job_id)
    assert (job.state, job.failures) == (State.SUCCEEDED, 0)
    assert [event.name for event in await rig.log.history(token.job_id)] == [
        "enqueued",
        "claimed",
        "succeeded",
    ]
