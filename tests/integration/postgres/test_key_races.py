"""Submit keys and unique options under real concurrency: many sessions, and locks that are waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from fencepost.adapters.postgres import submit_keys, submit_uniques
from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.adapters.postgres.submitter import SyncPostgresSubmitter
from fencepost.domain.commands import Fail, JobError
from fencepost.domain.errors import KeyConflict, KeyInProgress, UnknownOutcome
from fencepost.domain.vocabulary import State, Verdict
from support.proxy import Proxy, Trouble
from support.rig import WORKER, Rig, keyed, submission, success

MANY = 50


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the first request ends soon."""
    for module in (submit_keys, submit_uniques):
        monkeypatch.setattr(module, "PATIENCE", "200ms")


@asynccontextmanager
async def undecided(rig: Rig, *submissions: Any) -> AsyncIterator[tuple[psycopg.AsyncConnection, int]]:
    """A transaction that has submitted and does not end yet, and the job it got."""
    async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
        answers = await PostgresCallersTransactions().submit_in(connection, submissions)
        yield connection, answers[0].job_id


async def test_one_of_many_parallel_requests_creates_the_job(rig: Rig) -> None:
    """B140: 50 requests with one key at the same time: one job, one ``created``, the same id for all."""
    answers = await asyncio.gather(*(rig.submit(keyed("k")) for _ in range(MANY)))
    assert len({answer.job_id for [answer] in answers}) == 1 == await rig.count()
    assert sum(answer.created for [answer] in answers) == 1


async def test_one_of_many_threads_creates_the_job(rig: Rig) -> None:
    """The same from threads, each with a session of its own."""
    submitter = SyncPostgresSubmitter(rig.dsn)
    try:
        calls = (asyncio.to_thread(submitter.submit, [keyed("k")]) for _ in range(MANY))
        answers = await asyncio.gather(*calls)
    finally:
        submitter.close()
    assert sum(answer.created for [answer] in answers) == 1 == await rig.count()


async def test_who_waits_for_a_rollback_creates_the_job(rig: Rig) -> None:
    """B141: A request that waits for the first one's transaction submits itself when that one rolls back."""
    async with undecided(rig, keyed("k")) as (first, _):
        second = asyncio.create_task(rig.submit(keyed("k")))
        await rig.waiting()
        await first.rollback()
    [answer] = await second
    assert answer.created
    assert await rig.count() == 1


async def test_who_waits_for_a_commit_gets_its_job(rig: Rig) -> None:
    """B141: A request that waits for the first one's transaction answers with its job when that one commits."""
    async with undecided(rig, keyed("k")) as (first, job_id):
        second = asyncio.create_task(rig.submit(keyed("k")))
        await rig.waiting()
        await first.commit()
    [answer] = await second
    assert (answer.job_id, answer.created) == (job_id, False)


async def test_who_waits_for_another_request_with_the_key_gets_a_conflict(rig: Rig) -> None:
    """The digest is judged once the first request has committed."""
    async with undecided(rig, keyed("k", "one")) as (first, _):
        second = asyncio.create_task(rig.submit(submission(), keyed("k", "two")))
        await rig.waiting()
        await first.commit()
    with pytest.raises(KeyConflict):
        await second
    assert await rig.count() == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("asked", [keyed("k"), submission(unique_key="u")], ids=["key", "unique"])
async def test_waiting_has_an_end(rig: Rig, asked: Any) -> None:
    """A first request that does not end in time is ``KeyInProgress``, and nothing is written."""
    async with undecided(rig, asked) as (first, _):
        with pytest.raises(KeyInProgress):
            await rig.submit(submission(), asked)
        await first.rollback()
    assert await rig.count() == 0


async def test_batches_with_the_same_keys_in_other_orders_wait_instead_of_deadlocking(rig: Rig) -> None:
    """Keys are taken in one order whatever the batch's: all batches are answered with the same jobs."""
    names = [f"key-{n}" for n in range(20)]
    batches = [names, names[::-1], names[10:] + names[:10]] * 5
    answers = await asyncio.gather(*(rig.submit(*map(keyed, batch)) for batch in batches))
    found = {
        (name, answer.job_id)
        for batch, got in zip(batches, answers, strict=True)
        for name, answer in zip(batch, got, strict=True)
    }
    assert len(found) == 20 == await rig.count()
    assert sum(answer.created for got in answers for answer in got) == 20


async def test_one_of_many_takes_over_an_expired_key(rig: Rig) -> None:
    """When a key's life is over, parallel requests make one new job."""
    [old] = await rig.submit(keyed("k"))
    await rig.ask("UPDATE fencepost.submit_keys SET expires_at = clock_timestamp()")
    answers = await asyncio.gather(*(rig.submit(keyed("k", "other")) for _ in range(MANY)))
    assert sum(answer.created for [answer] in answers) == 1
    [new] = {answer.job_id for [answer] in answers}
    assert new != old.job_id
    assert await rig.count() == 2


async def test_a_key_that_vanishes_while_it_is_waited_for_is_taken(rig: Rig) -> None:
    """Retention may remove a key between two looks at it: then the request is the first one again."""
    [first] = await rig.submit(keyed("k"))
    async with await psycopg.AsyncConnection.connect(rig.dsn) as retention:
        await retention.execute("DELETE FROM fencepost.submit_keys")
        second = asyncio.create_task(rig.submit(keyed("k")))
        await rig.waiting()
        await retention.commit()
    [answer] = await second
    assert answer.created
    assert answer.job_id != first.job_id


async def test_a_key_outlives_the_row_of_its_job(rig: Rig) -> None:
    """B147: A replay is answered after the job has finished, and after it was pruned."""
    [first] = await rig.submit(keyed("k"))
    [token] = await rig.claim()
    assert await rig.jobs.report([success(token)()]) == [Verdict.ACCEPTED]
    assert [answer.created for answer in await rig.submit(keyed("k"))] == [False]
    await rig.ask("SELECT fencepost.prune(ARRAY[%s]::bigint[], 'user:test', NULL, NULL)", first.job_id)
    assert await rig.count() == 0
    assert [answer.job_id for answer in await rig.submit(keyed("k"))] == [first.job_id]


async def test_a_replay_writes_so_that_its_commit_waits_for_the_standby(rig: Rig) -> None:
    """The answer to a replay is as durable as the first one: its transaction has an id and a commit record."""
    await rig.submit(keyed("k"))
    async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
        await PostgresCallersTransactions().submit_in(connection, [keyed("k")])
        cursor = await connection.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        assert await cursor.fetchone() == (True,)


async def test_a_lost_reply_is_unknown_and_the_repeated_request_finds_the_job(
    rig: Rig, far_rig: Rig, proxy: Proxy
) -> None:
    """B116: The reply to COMMIT is lost: the caller hears UnknownOutcome, repeats with its key: one job."""
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    with pytest.raises(UnknownOutcome):
        await far_rig.submit(keyed("k"))
    assert proxy.struck.is_set()
    [again] = await far_rig.submit(keyed("k"))
    assert not again.created
    assert await rig.count() == 1


async def test_without_a_key_a_lost_reply_is_not_repeated_behind_the_callers_back(
    rig: Rig, far_rig: Rig, proxy: Proxy
) -> None:
    """The caller is told that the outcome is unknown; there is no silent second insert."""
    proxy.trouble("WITH given", Trouble.REPLY_LOST)
    with pytest.raises(UnknownOutcome):
        await far_rig.submit(submission())
    assert await rig.count() == 1


async def test_one_of_many_gets_the_unique_key(rig: Rig) -> None:
    """50 submits with the same unique options at once leave one unfinished job, which answers all."""
    answers = await asyncio.gather(*(rig.submit(submission(unique_key="u")) for _ in range(MANY)))
    assert len({answer.job_id for [answer] in answers}) == 1 == await rig.count()
    assert sum(answer.created for [answer] in answers) == 1


async def test_after_the_unfinished_job_many_race_for_its_place(rig: Rig) -> None:
    """When the holder has finished, exactly one of many parallel submits takes its place."""
    await rig.submit(submission(unique_key="u"))
    [token] = await rig.claim()
    await rig.jobs.report([success(token)()])
    answers = await asyncio.gather(*(rig.submit(submission(unique_key="u")) for _ in range(MANY)))
    assert sum(answer.created for [answer] in answers) == 1
    assert await rig.count() == 2


async def test_who_waits_for_unique_options_sees_the_job_of_who_had_them(rig: Rig) -> None:
    """The holder's job is looked for after its transaction has ended, not in an older snapshot."""
    await rig.submit(submission(unique_key="u"))
    [token] = await rig.claim()
    await rig.jobs.report([success(token)()])
    async with undecided(rig, submission(unique_key="u")) as (first, job_id):
        second = asyncio.create_task(rig.submit(submission(unique_key="u")))
        await rig.waiting()
        await first.commit()
    [answer] = await second
    assert (answer.job_id, answer.created) == (job_id, False)


async def test_a_retry_is_never_blocked_by_unique_options(rig: Rig) -> None:
    """B134: A waits for its retry, B asks for the same and is answered with A; A and 20 others then run normally."""
    [a] = await rig.submit(submission(unique_key="u"))
    [token] = await rig.claim()
    failed = Fail(origin=WORKER, token=token, error=JobError("Oops"), retry_in=timedelta(0))
    await rig.jobs.report([failed])
    [b] = await rig.submit(submission(unique_key="u"))
    assert (b.job_id, b.created) == (a.job_id, False)
    await rig.submit(*(submission() for _ in range(20)))
    tokens = await rig.claim(limit=100)
    assert len(tokens) == 21
    assert set(await rig.jobs.report([success(token)() for token in tokens])) == {Verdict.ACCEPTED}
    assert (await rig.job(a.job_id)).state is State.SUCCEEDED


async def test_jobs_with_keys_keep_the_order_of_the_batch(rig: Rig) -> None:
    """Keys are taken in an order of their own, but ids, and so the claim order, follow the batch."""
    first = await rig.submit(keyed("c"), submission(), keyed("a"), submission(unique_key="u"), keyed("b"))
    assert [answer.job_id for answer in first] == sorted(answer.job_id for answer in first)
    again = await rig.submit(
        keyed("b"), keyed("d", unique_key="u"), keyed("a"), keyed("a"), keyed("d", unique_key="u")
    )
    known = [answer.job_id for answer in first]
    assert [answer.job_id for answer in again] == [known[4], known[3], known[2], known[2], known[3]]
    assert not any(answer.created for answer in again)
    assert await rig.ask("SELECT key, job_id FROM fencepost.submit_keys ORDER BY key") == [
        ("a", known[2]),
        ("b", known[4]),
        ("c", known[0]),
        ("d", known[3]),
    ]
