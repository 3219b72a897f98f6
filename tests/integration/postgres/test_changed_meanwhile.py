"""Rows that are changed after a statement's snapshot and before its lock: neither lost nor moved twice.

The statements run as they are, but for a gate on their way to each row, which the test opens.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from fencepost.adapters.postgres.database import RepeatingDatabase
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.query import Query, Rows, Statement
from fencepost.application.ports.job_store import Claimed, ClaimRequest
from fencepost.domain.commands import Cancel, Edit
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.rig import QUEUE, USER, WORKER, Rig, submission, success, waiting

T = TypeVar("T")
Change = Callable[[Rig, Token], Awaitable[None]]
GATE = 4711
WAY_TO_ROWS = "(j.state || '') = 'running'"
REAPERS_WAY = "j.state = 'running'"
THROUGH_THE_GATE = f"pg_advisory_xact_lock_shared({GATE}) IS NOT NULL AND "


class Gated(RepeatingDatabase):
    """Sessions whose single statements have to pass a gate before they look at a running job."""

    async def execute(self, query: Query) -> Rows:
        """Run the statement with its gate."""
        sql = str(query.statement.core)
        way = WAY_TO_ROWS if WAY_TO_ROWS in sql else REAPERS_WAY
        assert way in sql
        gated = Statement(text(sql.replace(way, THROUGH_THE_GATE + way).replace("\\:", ":")), writes=True)
        return await super().execute(Query(gated, query.parameters))


@pytest.fixture
async def gated(rig: Rig) -> AsyncIterator[PostgresJobStore]:
    """The adapter behind the gate."""
    database = Gated(rig.dsn)
    yield PostgresJobStore(database)
    await database.close()


@contextmanager
def closed(dsn: str) -> Iterator[None]:
    """The gate is closed until the end; so are the queues, on which claims wait by themselves."""
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [GATE])
        connection.execute("SELECT FROM fencepost.queues FOR UPDATE")
        yield


async def meanwhile(rig: Rig, statement: Awaitable[T], change: Awaitable[object]) -> T:
    """Make a change after a statement's snapshot and before its lock, and return the statement's answer."""
    with closed(rig.dsn):
        running = asyncio.ensure_future(statement)
        await waiting(rig.dsn)
        await change
    return await running


async def beaten(rig: Rig, token: Token) -> None:
    """The job's lease is renewed."""
    [answer] = await rig.jobs.heartbeat([token])
    assert answer.verdict is Verdict.ACCEPTED


async def cancelled(rig: Rig, token: Token) -> None:
    """The running job is asked to stop."""
    assert await rig.jobs.operate([token.job_id], Cancel(origin=USER)) == [Verdict.ACCEPTED]


async def lapsed(rig: Rig) -> Token:
    """A job whose lease has run out without anybody noticing."""
    token = await rig.claimed()
    await rig.ask("UPDATE fencepost.jobs SET lease_expires_at = clock_timestamp() - lease")
    return token


async def names(rig: Rig, job_id: int) -> list[str]:
    """The names of a job's events."""
    return [event.name for event in await rig.log.history(job_id)]


@pytest.mark.parametrize("change", [beaten, cancelled])
async def test_a_report_of_a_row_changed_meanwhile_is_busy_and_then_accepted(
    rig: Rig, gated: PostgresJobStore, change: Change
) -> None:
    """Never refused: its token opens the job as before. The rest of the batch is accepted at once."""
    await rig.submit(*[submission() for _ in range(3)])
    tokens = await rig.claim(3)
    reports = [success(token)() for token in tokens]
    verdicts = await meanwhile(rig, gated.report(reports), change(rig, tokens[1]))
    assert verdicts == [Verdict.ACCEPTED, Verdict.BUSY, Verdict.ACCEPTED]
    assert await rig.jobs.report(reports[1:2]) == [Verdict.ACCEPTED]
    assert (await names(rig, tokens[1].job_id))[-1] == "succeeded"
    assert (await names(rig, tokens[1].job_id)).count("succeeded") == 1


async def test_a_report_that_another_one_overtook_is_already_applied(
    rig: Rig, gated: PostgresJobStore
) -> None:
    """The same success lands in between: one event, and both hear that it counts."""
    token = await rig.claimed()
    report = success(token)()
    assert await meanwhile(rig, gated.report([report]), rig.jobs.report([report])) == [
        Verdict.ALREADY_APPLIED
    ]
    assert await names(rig, token.job_id) == ["enqueued", "claimed", "succeeded"]


async def test_a_lapsed_lease_that_is_renewed_meanwhile_is_not_reaped(
    rig: Rig, gated: PostgresJobStore
) -> None:
    """The heartbeat came first, and the reaper sees it under its lock."""
    token = await lapsed(rig)
    assert await meanwhile(rig, gated.reap(10, [0.5] * 10), beaten(rig, token)) == 0
    assert await rig.jobs.reap(10, [0.5] * 10) == 0


async def test_a_lapsed_lease_that_changed_meanwhile_is_reaped_the_next_time(
    rig: Rig, gated: PostgresJobStore
) -> None:
    """A cancel request leaves the lease lapsed: it ends once, in the next round, as a cancel."""
    await rig.submit(submission(lease=timedelta(milliseconds=100)))
    [token] = await rig.claim()
    await rig.ask("SELECT pg_sleep_until(lease_expires_at) FROM fencepost.jobs")
    assert await meanwhile(rig, gated.reap(10, [0.5] * 10), cancelled(rig, token)) == 0
    assert await rig.jobs.reap(10, [0.5] * 10) == 1
    assert await names(rig, token.job_id) == ["enqueued", "claimed", "cancel_requested", "lease_expired"]
    assert (await rig.job(token.job_id)).state is State.CANCELLED


async def test_a_heartbeat_sees_what_came_meanwhile(rig: Rig, gated: PostgresJobStore) -> None:
    """A cancel request between its snapshot and its lock is in the answer."""
    token = await rig.claimed()
    [answer] = await meanwhile(rig, gated.heartbeat([token]), cancelled(rig, token))
    assert (answer.verdict, answer.cancel_requested) == (Verdict.ACCEPTED, True)


async def ask(store: PostgresJobStore, limit: int) -> Claimed:
    """Claim, and return the whole answer."""
    request = ClaimRequest(
        queue=QUEUE, types=frozenset({"work"}), limit=limit, claim_id=str(uuid4()), origin=WORKER
    )
    return await store.claim(request)


def ids(claimed: Claimed) -> list[int]:
    """The jobs of an answer."""
    return [job.token.job_id for job in claimed.jobs]


@pytest.mark.parametrize("limit", [1, 2, 10])
async def test_a_claim_leaves_a_row_edited_meanwhile_to_the_next_one(rig: Rig, limit: int) -> None:
    """It asks to be repeated at once, and its frontier stays before the job: no full scan is needed for any."""
    await rig.queues.register([QUEUE])
    store = PostgresJobStore(rig.database, full_scans=1e-9)
    await ask(store, 10)
    first, *others = [answer.job_id for answer in await rig.submit(*[submission() for _ in range(4)])]
    edit = rig.jobs.operate([first], Edit(origin=USER, payload='{"new": true}'))
    claimed = await meanwhile(rig, ask(store, limit), edit)
    assert (ids(claimed), claimed.next_due_in) == (others[: limit - 1], timedelta(0))
    rest = await ask(store, 10)
    assert ids(rest) == [first, *others[limit - 1 :]]
    assert rest.jobs[0].payload == '{"new": true}'


async def test_a_claim_fills_up_with_others_when_jobs_were_taken_meanwhile(rig: Rig) -> None:
    """Two of three asked for are claimed by another worker in between: three come all the same."""
    await rig.queues.register([QUEUE])
    await rig.submit(*[submission() for _ in range(5)])
    taken = "UPDATE fencepost.jobs SET state = 'succeeded' WHERE job_id <= 2"
    claimed = await meanwhile(rig, ask(rig.jobs, 3), rig.ask(taken))
    assert (ids(claimed), claimed.next_due_in) == ([3, 4, 5], None)
    await rig.ask("UPDATE fencepost.jobs SET state = 'pending' WHERE job_id <= 2")
