"""Claiming on PostgreSQL: limits, order, plans."""

import asyncio
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from fencepost.adapters.postgres import claiming, leases, reporting
from fencepost.adapters.postgres.query import Query
from fencepost.application.ports.job_store import ClaimRequest
from support.rig import WORKER, Rig, submission, success

REQUEST = ClaimRequest(
    queue="default", types=frozenset({"work"}), limit=10, claim_id=str(uuid4()), origin=WORKER
)
CROWD = """
INSERT INTO fencepost.jobs
    (type, queue, priority, run_at, max_attempts, lease, submitted_at, retry, attempt, state)
SELECT 'work', 'default', 5, now() + (n %% 2) * interval '1 day', 5, '30 s', now(),
    '{"policy": "constant", "delay_us": 1}', 1, CASE WHEN n %% 4 < 2 THEN 'pending' ELSE 'succeeded' END
FROM generate_series(1, %s) AS n
"""


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


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """All nodes of a plan."""
    return [plan, *[node for child in plan.get("Plans", []) for node in nodes(child)]]


def paths(dsn: str, query: Query) -> set[tuple[str, str]]:
    """How a statement reaches the rows of jobs, planned without knowledge of its parameters."""
    with psycopg.connect(dsn, options=_options()) as connection:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        explain = b"EXPLAIN (FORMAT JSON) " + query.statement.sql.encode()
        [[[found]]] = connection.execute(explain, query.values, prepare=True).fetchall()
    reached = [node for node in nodes(found["Plan"]) if node.get("Relation Name") == "jobs"]
    return {
        (node["Node Type"], node.get("Index Name", ""))
        for node in reached
        if node["Node Type"] != "ModifyTable"
    }


def _options() -> str:
    from fencepost.adapters.postgres.connector import Connector

    return " ".join(f"-c {name}={value}" for name, value in Connector("").settings.items())


@pytest.mark.unproven("rows without events stand in for a crowd of jobs")
@pytest.mark.parametrize("statistics", ["none", "of an empty table", "of a full one"])
async def test_hot_statements_use_their_index_whatever_the_statistics(rig: Rig, statistics: str) -> None:
    """Claims walk the index of due jobs, reports and heartbeats the primary key, the reaper the running jobs."""
    if statistics == "of an empty table":
        await rig.ask("ANALYZE fencepost.jobs")
    await rig.ask(CROWD, 20_000)
    if statistics == "of a full one":
        await rig.ask("ANALYZE fencepost.jobs")
    [token] = await rig.claim()
    schema, primary, found = "fencepost", ("Index Scan", "jobs_pkey"), ("Tid Scan", "")
    due, running = ("Index Scan", "jobs_due"), ("Index Scan", "jobs_running")
    assert paths(rig.dsn, claiming.claim_query(schema, REQUEST, None)) == {due, found}
    assert paths(rig.dsn, reporting.report_query(schema, [success(token)()], None)) == {primary, found}
    assert paths(rig.dsn, leases.heartbeat_query(schema, [token], None)) == {primary}
    assert paths(rig.dsn, leases.reap_query(schema, 10, [0.5], None)) == {running, found}
