"""Wake-ups over LISTEN and NOTIFY: who is told, who is not, and what happens when the ear falls off."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import text

from fencepost.adapters.postgres import ear, rousing, waking
from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.errors import Unstorable
from fencepost.adapters.postgres.query import Statement
from fencepost.adapters.postgres.submitter import PostgresSubmitter, SyncPostgresSubmitter
from fencepost.adapters.postgres.wakeups import PostgresWakeups
from fencepost.application.ports.submitter import Submission, Submitted
from fencepost.domain.commands import Operation, Requeue, Revoke, Succeed
from fencepost.domain.errors import Unavailable
from fencepost.domain.vocabulary import Verdict
from support.polling import eventually
from support.proxy import Proxy, Trouble
from support.rig import QUEUE, USER, Rig, rig_over, submission

SOON = 5.0
NEVER = 0.2


@pytest.fixture
async def wakeups(rig: Rig) -> AsyncIterator[PostgresWakeups]:
    """A worker's ear, open and past the wake-up that every new connection starts with."""
    wakeups = PostgresWakeups(rig.database, types={"work"}, build="build-1")
    await wakeups.open("worker:1", [QUEUE, "mail"])
    assert await wakeups.wait(SOON) == {QUEUE, "mail"}
    yield wakeups
    await wakeups.close()


async def test_an_idle_worker_is_woken_by_a_submit(rig: Rig, wakeups: PostgresWakeups) -> None:
    """It hears the queue's name, once."""
    await wakeups.set_idle(True)
    await rig.submit(submission(queue="mail"), submission(queue="mail"))
    assert await wakeups.wait(SOON) == {"mail"}
    assert await wakeups.wait(NEVER) == frozenset()


@pytest.mark.parametrize("queue", [QUEUE, "other"])
async def test_nobody_is_told_when_nobody_waits(rig: Rig, wakeups: PostgresWakeups, queue: str) -> None:
    """B114: A busy worker, and one that waits for other queues, cost the submitter no notification."""
    await wakeups.set_idle(queue == "other")
    async with await psycopg.AsyncConnection.connect(rig.dsn, autocommit=True) as another:
        await another.execute(f'LISTEN "{waking.channel("fencepost")}"'.encode())
        await rig.submit(submission(queue=queue))
        assert [note async for note in another.notifies(timeout=NEVER)] == []


async def test_wake_ups_can_be_switched_off(rig: Rig, wakeups: PostgresWakeups) -> None:
    """B114: New jobs are left to the workers' polls then: in transactions of ours, of the caller's, and in threads."""
    await wakeups.set_idle(True)
    sync = SyncPostgresSubmitter(rig.dsn, wakes=False)
    await PostgresSubmitter(rig.database, wakes=False).submit([submission()])
    await asyncio.to_thread(sync.submit, [submission()])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as connection:
        await PostgresCallersTransactions(wakes=False).submit_in(connection, [submission()])
    sync.close()
    assert await rig.count() == 3
    assert await wakeups.wait(NEVER) == frozenset()


async def test_the_flags_are_read_after_the_commit(
    rig: Rig, wakeups: PostgresWakeups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that becomes idle just after the commit, having looked just before it, is told."""
    answer = PostgresSubmitter._answers

    async def then_idle(
        submitter: PostgresSubmitter, submissions: Sequence[Submission]
    ) -> Sequence[Submitted]:
        answers = await answer(submitter, submissions)
        await wakeups.set_idle(True)
        return answers

    monkeypatch.setattr(PostgresSubmitter, "_answers", then_idle)
    await rig.submit(submission())
    assert await wakeups.wait(SOON) == {QUEUE}


async def test_many_submits_at_once_wake_for_each_queue(rig: Rig, wakeups: PostgresWakeups) -> None:
    """However many share a look at the flags, no queue is forgotten."""
    await wakeups.set_idle(True)
    await asyncio.gather(*(rig.submit(submission(queue=name)) for name in [QUEUE] * 20 + ["mail"] * 20))
    assert await _all_heard(wakeups) == {QUEUE, "mail"}


async def test_who_submits_and_leaves_at_once_has_told_everybody(
    rig: Rig, wakeups: PostgresWakeups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However closely its submits follow each other, and also when the last of many at once is refused."""
    monkeypatch.setattr(rousing, "REST", 1e12)
    await wakeups.set_idle(True)
    async with rig_over(rig.dsn) as other:
        await other.submit(submission())
        bad = submission('{"n": "\\u0000"', queue="other")
        calls = (other.submit(submission(queue="mail")), other.submit(bad))
        assert [type(end) for end in await asyncio.gather(*calls, return_exceptions=True)] == [
            list,
            Unstorable,
        ]
    assert await _all_heard(wakeups) == {QUEUE, "mail"}


async def test_a_session_that_dies_after_the_commit_leaves_the_submit_a_success(
    rig: Rig, proxy: Proxy, wakeups: PostgresWakeups
) -> None:
    """The link is cut between the commit and the answer to the wake-up: the job is there, and its submitter knows."""
    await wakeups.set_idle(True)
    async with rig_over(proxy.dsn) as far:
        proxy.trouble("SELECT pg_notify", Trouble.REPLY_LOST)
        [answer] = await far.submit(submission())
        assert proxy.struck.is_set()
    assert (await rig.job(answer.job_id)).job_id == answer.job_id
    assert await rig.count() == 1


async def test_a_wake_up_waits_for_no_disk_and_changes_nothing_else(
    rig: Rig, wakeups: PostgresWakeups
) -> None:
    """B114: A notification holds a lock of the whole cluster until its commit is over; the session stays durable."""
    await wakeups.set_idle(True)
    async with await psycopg.AsyncConnection.connect(rig.dsn, autocommit=True) as connection:
        hint = waking.waking("fencepost").to_idle(queues=[QUEUE])
        during = hint.statement.sql.replace(
            "SELECT pg_notify(", "SELECT current_setting('synchronous_commit'), pg_notify("
        )
        cursor = await connection.execute(during.encode(), hint.values)
        assert [mode for mode, _ in await cursor.fetchall()] == ["off"]
        cursor = await connection.execute("SHOW synchronous_commit")
        assert await cursor.fetchone() == ("on",)
    assert await wakeups.wait(SOON) == {QUEUE}


async def test_the_flag_is_taken_back(rig: Rig, wakeups: PostgresWakeups) -> None:
    """A worker that is busy again is not told any more."""
    await wakeups.set_idle(True)
    await wakeups.set_idle(False)
    await rig.submit(submission())
    assert await wakeups.wait(NEVER) == frozenset()


async def test_a_worker_that_has_been_silent_for_long_counts_as_gone(
    rig: Rig, wakeups: PostgresWakeups
) -> None:
    """A row that a killed worker left behind does not make every submit notify for ever."""
    await wakeups.set_idle(True)
    await rig.ask("UPDATE fencepost.workers SET last_seen_at = last_seen_at - interval '2 minutes'")
    await rig.submit(submission())
    assert await wakeups.wait(NEVER) == frozenset()


async def test_a_job_with_time_wakes_nobody(rig: Rig, wakeups: PostgresWakeups) -> None:
    """A delay beyond the fallback poll needs no wake-up; a short one does."""
    await wakeups.set_idle(True)
    await rig.submit(submission(delay=waking.POLLED * 2))
    assert await wakeups.wait(NEVER) == frozenset()
    await rig.submit(submission(delay=waking.POLLED))
    assert await wakeups.wait(SOON) == {QUEUE}


async def test_a_resumed_queue_wakes_who_waits_for_it(rig: Rig, wakeups: PostgresWakeups) -> None:
    """Jobs that were submitted during the pause are claimed at once."""
    await wakeups.set_idle(True)
    await rig.queues.pause(QUEUE, USER)
    await rig.queues.resume(QUEUE, USER)
    assert await wakeups.wait(SOON) == {QUEUE}


@pytest.mark.parametrize("operation", [Revoke(origin=USER), Requeue(origin=USER, fresh_effect_key=False)])
async def test_a_job_that_is_pending_again_wakes_who_waits_for_it(
    rig: Rig, wakeups: PostgresWakeups, operation: Operation
) -> None:
    """An operator's revoke or requeue is not left to the fallback poll."""
    await rig.submit(submission())
    token = await rig.claimed()
    if isinstance(operation, Requeue):
        await rig.jobs.report([Succeed(origin=USER, token=token)])
    await wakeups.set_idle(True)
    assert await rig.jobs.operate([token.job_id], operation) == [Verdict.ACCEPTED]
    assert await wakeups.wait(SOON) == {QUEUE}


async def eventually_asked(rig: Rig, question: str) -> None:
    """Ask the database until the answer is not zero."""
    async with asyncio.timeout(SOON):
        while not (await rig.ask(question))[0][0]:  # noqa: ASYNC110 - the database's clock goes on by itself
            await asyncio.sleep(0.01)


async def test_a_reaped_job_wakes_who_waits_for_it(rig: Rig, wakeups: PostgresWakeups) -> None:
    """The job of a worker that is gone starts as soon as its lease has been ended."""
    await rig.submit(submission(lease=timedelta(milliseconds=100)))
    await rig.claimed()
    await wakeups.set_idle(True)
    lapsed = "SELECT count(*) FROM fencepost.jobs WHERE lease_expires_at < clock_timestamp()"
    await eventually_asked(rig, lapsed)
    assert await rig.jobs.reap(10, [0.0] * 10) == 1
    assert await wakeups.wait(SOON) == {QUEUE}


async def test_the_worker_is_registered_from_open_to_close(rig: Rig) -> None:
    """Everybody can see which queues and types it serves, and that it has gone."""
    wakeups = PostgresWakeups(rig.database, types={"work", "rest"}, build="build-1")
    await wakeups.open("worker:2", ["b", "a"])
    rows = "SELECT worker, queues, types, build, idle FROM fencepost.workers"
    assert await rig.ask(rows) == [("worker:2", ["a", "b"], ["rest", "work"], "build-1", False)]
    await wakeups.close()
    assert await rig.ask(rows) == []


async def test_a_dead_listener_is_replaced_and_looks_for_what_it_missed(
    rig: Rig, wakeups: PostgresWakeups
) -> None:
    """The server ends the connection: the ear comes back, wakes for every queue, and hears again."""
    await wakeups.set_idle(True)
    await rig.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
    )
    assert await wakeups.wait(SOON) == {QUEUE, "mail"}
    await rig.submit(submission())
    assert await wakeups.wait(SOON) == {QUEUE}


async def test_a_listener_cut_off_silently_is_noticed(
    rig: Rig, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes through and nothing breaks: the probe is not answered, and the connection is replaced."""
    monkeypatch.setattr(ear, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr(ear, "CONNECT_SECONDS", 0.3)
    far = Database(proxy.dsn)
    wakeups = PostgresWakeups(far)
    await wakeups.open("worker:3", [QUEUE])
    await wakeups.wait(SOON)
    await wakeups.set_idle(True)
    connected = proxy.connections
    proxy.stall()
    await rig.submit(submission())
    assert await wakeups.wait(NEVER) == frozenset()
    await asyncio.to_thread(eventually, lambda: proxy.connections > connected)
    proxy.flow()
    assert await wakeups.wait(SOON) == {QUEUE}
    await wakeups.close()
    await far.close()


async def test_what_comes_while_the_connection_is_tried_is_heard(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notification may arrive together with the probe's answer, when nobody waits for notifications."""
    monkeypatch.setattr(ear, "PROBE_SECONDS", 0.01)
    notify = Statement(text("SELECT pg_notify('test_probed', 'yes')"), writes=False)
    heard: asyncio.Queue[str | None] = asyncio.Queue()
    listening = asyncio.create_task(
        ear.Ear(rig.database.connector, "test_probed", heard.put_nowait, notify).listen()
    )
    async with asyncio.timeout(SOON):
        assert [await heard.get() for _ in range(3)] == [None, "yes", "yes"]
    listening.cancel()


async def test_waiting_survives_that_the_database_is_away(rig: Rig, proxy: Proxy) -> None:
    """Without a connection the wait only takes its time; it never raises."""
    far = Database(proxy.dsn)
    wakeups = PostgresWakeups(far)
    await wakeups.open("worker:4", [QUEUE])
    await wakeups.wait(SOON)
    proxy.__exit__()
    assert [await wakeups.wait(0.3) for _ in range(3)] == [frozenset()] * 3
    with pytest.raises(Unavailable):
        await wakeups.close()
    await far.close()


async def test_life_is_shown_again_and_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle worker's row stays fresh, and comes back when somebody removed it."""
    monkeypatch.setattr(ear, "PROBE_SECONDS", 0.05)
    wakeups = PostgresWakeups(rig.database)
    await wakeups.open("worker:5", [QUEUE])
    await rig.ask("DELETE FROM fencepost.workers")
    await asyncio.to_thread(eventually, lambda: _workers(rig.dsn) == ["worker:5"])
    await wakeups.close()
    assert _workers(rig.dsn) == []


async def test_behind_a_transaction_pooler_a_worker_only_sleeps(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B111: No LISTEN, no idle flag that would cost submitters a notification; its row is kept fresh all the same."""
    monkeypatch.setattr("fencepost.adapters.postgres.wakeups.PROBE_SECONDS", 0.0)
    wakeups = PostgresWakeups(rig.database, poll_only=True)
    await wakeups.open("worker:6", [QUEUE])
    await wakeups.set_idle(True)
    await rig.submit(submission())
    assert await rig.ask("SELECT idle FROM fencepost.workers") == [(False,)]
    await rig.ask("DELETE FROM fencepost.workers")
    assert await wakeups.wait(0.01) == frozenset()
    assert _workers(rig.dsn) == ["worker:6"]
    ears = (
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
    )
    assert await rig.ask(ears) == [(0,)]
    await wakeups.close()


def test_a_long_schema_name_still_gives_a_channel() -> None:
    """Channels are identifiers: at most 63 bytes, and different for different schemas."""
    names = {waking.channel("s" * length) for length in (9, 50, 60, 63)}
    assert len(names) == 4
    assert all(len(name) <= 63 for name in names)


async def _all_heard(wakeups: PostgresWakeups) -> set[str]:
    """What is heard until there is a silence."""
    heard: set[str] = set()
    while woken := await wakeups.wait(SOON if not heard else NEVER):
        heard |= woken
    return heard


def _workers(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        return [worker for (worker,) in connection.execute("SELECT worker FROM fencepost.workers").fetchall()]
