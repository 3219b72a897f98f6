"""Submitting to PostgreSQL: one statement, whatever the batch."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from attrs import evolve

from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.adapters.postgres.submit_plan import COPIED_FROM
from fencepost.adapters.postgres.submitter import SyncPostgresSubmitter
from fencepost.domain.decide import enqueue
from fencepost.domain.errors import InvalidInput, Unavailable, UnknownOutcome
from fencepost.domain.evolve import fold
from fencepost.domain.retry import Constant, Delays
from support.proxy import Proxy, Trouble
from support.rig import Rig, submission

AWKWARD = '{"text": "\\"\\\\ {}, NULL é \\u2028", "list": [1, 2.50, null],  "spaced" : {}}'


async def test_a_submit_writes_what_the_domain_decides(rig: Rig) -> None:
    """Row and ``enqueued`` event are those of ``decide.enqueue``, byte for byte in the payload."""
    asked = submission(
        AWKWARD,
        priority=9,
        max_attempts=7,
        timeout=None,
        lease=timedelta(days=1),
        retry=Delays((timedelta(0), timedelta(days=40, microseconds=1))),
        effect_key='an "effect", {key} \\ NULL',
        run_at=datetime(2031, 2, 3, 4, 5, 6, 7, tzinfo=UTC),
    )
    [answer] = await rig.submit(asked)
    [event] = await rig.log.history(answer.job_id)
    assert evolve(event, position=None) == enqueue(asked.command, answer.job_id, event.at)
    assert await rig.job(answer.job_id) == fold([event])


async def test_answers_and_ids_follow_the_order_of_the_batch(rig: Rig) -> None:
    """The n-th answer belongs to the n-th submission, and earlier ones have lower ids: first in, first out."""
    answers = await rig.submit(*(submission(f'{{"n":{n}}}') for n in range(2_500)))
    assert [answer.job_id for answer in answers] == sorted(answer.job_id for answer in answers)
    rows = await rig.ask("SELECT payload ->> 'n' FROM fencepost.jobs ORDER BY job_id")
    assert [int(n) for (n,) in rows] == list(range(2_500))


async def test_a_null_text_is_not_null(rig: Rig) -> None:
    """The word NULL, an empty text and braces are texts like any other."""
    words = ["NULL", "{}", "null"]
    answers = await rig.submit(*(submission(effect_key=word, type=word.strip("{}") or "x") for word in words))
    jobs = [await rig.job(answer.job_id) for answer in answers]
    assert [(job.type, job.effect_key) for job in jobs] == [("NULL", "NULL"), ("x", "{}"), ("null", "null")]


async def test_ten_thousand_jobs_are_one_transaction(rig: Rig) -> None:
    """B123: A bulk submit is all or nothing: a job that cannot be stored at its end leaves none of the others."""
    batch = [submission(f'{{"n":{n}}}') for n in range(10_000)]
    unstorable = submission('{"n": "\\u0000"')
    with pytest.raises(InvalidInput):
        await rig.submit(*batch, unstorable)
    assert await rig.count() == 0
    await rig.submit(*batch)
    assert await rig.count() == 10_000


async def test_large_submits_pass_while_an_idle_worker_listens(rig: Rig) -> None:
    """B113: Notifications carry a queue name at most: 100 kB of payload and 1,000 jobs at once are no trouble."""
    await rig.ask(
        "INSERT INTO fencepost.workers (worker, queues, idle) VALUES ('w', '{default}', true)",
    )
    [answer] = await rig.submit(submission(f'{{"text":"{"x" * 100_000}"}}'))
    assert len((await rig.job(answer.job_id)).payload or "") > 100_000
    await rig.submit(*(submission() for _ in range(1_000)))


@pytest.mark.parametrize("zone", ["Europe/Oslo", "America/New_York"])
async def test_a_delay_is_so_many_hours_whatever_the_session_calls_a_day(rig: Rig, zone: str) -> None:
    """A delay of 150 days ends 3,600 hours later, although the caller's time zone changes its clocks in between."""
    async with await psycopg.AsyncConnection.connect(rig.dsn, options=f"-c TimeZone={zone}") as connection:
        submit_in = PostgresCallersTransactions().submit_in
        [answer] = await submit_in(connection, [submission(delay=timedelta(days=150))])
    job = await rig.job(answer.job_id)
    assert job.run_at - job.submitted_at == timedelta(days=150)


async def test_threads_share_a_synchronous_submitter(rig: Rig) -> None:
    """Many threads submit at once through one object, each gets its own job."""
    submitter = SyncPostgresSubmitter(rig.dsn)
    try:
        batches = await asyncio.gather(
            *(
                asyncio.to_thread(submitter.submit, [submission(retry=Constant(timedelta(1)))])
                for _ in range(40)
            )
        )
    finally:
        submitter.close()
    assert len({answer.job_id for [answer] in batches}) == 40 == await rig.count()


@pytest.mark.parametrize("jobs", [1, COPIED_FROM])
async def test_a_thread_is_told_when_nobody_knows(rig: Rig, proxy: Proxy, jobs: int) -> None:
    """The reply to the commit is lost, of one statement or of a transaction; what was lost before is repeated."""
    submitter = SyncPostgresSubmitter(proxy.dsn)
    try:
        proxy.trouble("COMMIT" if jobs > 1 else "WITH given", Trouble.REPLY_LOST)
        with pytest.raises(UnknownOutcome):
            await asyncio.to_thread(submitter.submit, [submission()] * jobs)
        assert await rig.count() == jobs
        await asyncio.to_thread(submitter.submit, [submission()])
        proxy.cut()
        await asyncio.to_thread(submitter.submit, [submission()])
    finally:
        submitter.close()
    assert await rig.count() == jobs + 2


async def test_an_unreachable_database_is_unavailable() -> None:
    """Nothing listens there: the caller is told that nothing was changed."""
    with pytest.raises(Unavailable):
        SyncPostgresSubmitter("postgresql://nobody@127.0.0.1:1/nowhere").submit([submission()])


async def test_the_submit_owns_a_transaction_id_before_its_events_take_positions(rig: Rig) -> None:
    """A reader of the log can bound a gap by the writers it sees: no writer takes a position unseen."""
    await rig.ask(
        "CREATE FUNCTION fencepost.owned() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM set_config(''test.xid'', coalesce(pg_current_xact_id_if_assigned()::text, ''none''), false);"
        " RETURN NEW; END'"
    )
    await rig.ask(
        "CREATE TRIGGER owned BEFORE INSERT ON fencepost.job_events FOR EACH ROW EXECUTE FUNCTION fencepost.owned()"
    )
    try:
        async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
            await PostgresCallersTransactions().submit_in(connection, [submission()])
            cursor = await connection.execute("SELECT current_setting('test.xid') <> 'none'")
            assert await cursor.fetchone() == (True,)
    finally:
        await rig.ask("DROP FUNCTION fencepost.owned() CASCADE")
