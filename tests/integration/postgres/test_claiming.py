"""Claiming on PostgreSQL: limits, order, plans."""

import asyncio
from uuid import uuid4

import psycopg

from fencepost.adapters.postgres import claiming
from fencepost.application.ports.job_store import ClaimRequest
from support.rig import WORKER, Rig, submission

REQUEST = ClaimRequest(
    queue="default", types=frozenset({"work"}), limit=10, claim_id=str(uuid4()), origin=WORKER
)


async def test_a_claim_with_stale_statistics_takes_no_more_than_its_limit(rig: Rig) -> None:
    """B100: the planner believes in one row, there are 21."""
    await rig.submit(submission())
    await rig.ask("ANALYZE fencepost.jobs")
    await rig.submit(*[submission() for _ in range(20)])
    assert len(await rig.claim(1)) == 1
    [(running,)] = await rig.ask("SELECT count(*) FROM fencepost.jobs WHERE state = 'running'")
    assert running == 1


async def test_higher_priorities_come_first_and_equals_in_their_order(rig: Rig) -> None:
    """B103: A:5, B:1, C:5, D:1, E:1 with one due time are claimed as A, C, B, D, E."""
    await rig.submit(*[submission(priority=priority) for priority in (5, 1, 5, 1, 1)])
    await rig.ask("UPDATE fencepost.jobs SET run_at = submitted_at")
    order = []
    while tokens := await rig.claim(2):
        order += [token.job_id for token in tokens]
    assert order == [1, 3, 2, 4, 5]


async def test_a_claim_locks_no_row_that_it_does_not_take(rig: Rig) -> None:
    """What a claim in progress has not taken, another one gets at once, in order."""
    await rig.submit(*[submission(priority=n % 10) for n in range(40)])
    await rig.queues.register(["default"])
    query = claiming.claim_query("fencepost", REQUEST, None)
    async with await psycopg.AsyncConnection.connect(rig.dsn) as other:
        await other.execute(query.statement.sql.encode(), query.values)
        assert len(await rig.claim(40)) == 30


async def test_claims_at_the_same_time_share_the_jobs(rig: Rig) -> None:
    """Every job goes to exactly one of eight claimers."""
    await rig.submit(*[submission() for _ in range(200)])
    taken = await asyncio.gather(*[rig.claim(30) for _ in range(8)])
    ids = [token.job_id for tokens in taken for token in tokens]
    assert sorted(ids) == list(range(1, 201))
