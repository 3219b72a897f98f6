"""The plans of hot statements: each walks its own index and stops early, whatever the planner believes."""

from collections.abc import Sequence
from uuid import uuid4

import psycopg
import pytest

from fencepost.adapters.postgres import claiming, leases, reporting
from fencepost.adapters.postgres.behind import behind_query
from fencepost.adapters.postgres.frontier import FULL, LEVELS, Frontier, Scan
from fencepost.adapters.postgres.query import Query
from fencepost.adapters.postgres.submit_insert import inserted
from fencepost.adapters.postgres.submit_statements import submit_statements
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.ports.runs import runs
from fencepost.domain.commands import Fail, JobError, Release
from fencepost.domain.token import Token
from support.plans import beneath, explained, paths, walked
from support.rig import WORKER, Rig, submission, success

SCHEMA = "fencepost"
PLANTED = pytest.mark.unproven("rows without events stand in for a crowd of jobs")
CROWD = """
INSERT INTO fencepost.jobs
    (type, queue, priority, run_at, max_attempts, lease, submitted_at, retry, attempt, state)
SELECT 'work', 'default', n %% 10, now() - interval '1 hour' + (n / 40 %% 2) * interval '1 day', 5, '30 s', now(),
    '{"policy": "constant", "delay_us": 1}', 1, CASE WHEN n %% 4 < 2 THEN 'pending' ELSE 'succeeded' END
FROM generate_series(1, %s) AS n
"""
START = """
UPDATE fencepost.jobs SET state = 'running', claim_id = gen_random_uuid(), worker = 'w',
    lease_expires_at = now() + '1 hour' WHERE state = 'pending'
"""
END = """
UPDATE fencepost.jobs SET state = 'succeeded', claim_id = NULL, worker = NULL, lease_expires_at = NULL
WHERE state = 'running'
"""
BACK = "UPDATE fencepost.jobs SET state = 'pending' WHERE state = 'succeeded'"
ANALYZE = "ANALYZE fencepost.jobs"

STATISTICS: dict[str, Sequence[str]] = {
    "none": (CROWD,),
    "of an empty table": (ANALYZE, CROWD),
    "of a full table": (CROWD, ANALYZE),
    "of a bloated table": (CROWD, START, END, BACK, START, END, BACK, ANALYZE),
    "of pending jobs that have all ended": (CROWD, BACK, ANALYZE, START, END),
    "of running jobs that are all pending": (CROWD, BACK, START, ANALYZE, END, BACK),
    "of ended jobs that all run": (CROWD, START, END, ANALYZE, BACK, START),
}
PRIMARY, FOUND = ("Index Scan", "jobs_pkey"), ("Tid Scan", "")
DUE, RUNNING = ("Index Scan", "jobs_due"), ("Index Scan", "jobs_running")


def request(limit: int = 10) -> ClaimRequest:
    """A claim."""
    return ClaimRequest(
        queue="default", types=frozenset({"work"}), limit=limit, claim_id=str(uuid4()), origin=WORKER
    )


async def beyond(rig: Rig) -> Scan:
    """A scan from a frontier on every level, at the database's clock."""
    [(clock,)] = await rig.ask("SELECT clock_timestamp()")
    frontier = Frontier(lambda: 0.0)
    frontier.found(FULL, None, clock, 1.0)
    scan = frontier.scan()
    assert len(scan.places) == len(LEVELS)
    return scan


async def planted(rig: Rig, statistics: str, number: int = 20_000) -> None:
    """A crowd of jobs, and what the planner knows about it."""
    await rig.queues.register(["default"])
    for statement in STATISTICS[statistics]:
        await rig.ask(statement, *([number] if statement == CROWD else []))


async def hot(rig: Rig) -> list[tuple[str, Query, set[tuple[str, str]]]]:
    """All hot statements, and how each may reach the rows of jobs."""
    token, other = (Token(number, 1, str(uuid4())) for number in (1, 2))
    fail = Fail(origin=WORKER, token=token, error=JobError("E"))
    release = Release(origin=WORKER, token=other)
    batch = [submission() for _ in range(3)]
    return [
        ("submit", next(inserted(submit_statements(SCHEMA), runs(batch), (), None)), set()),
        ("full claim", claiming.claim_query(SCHEMA, request(), None), {DUE, FOUND}),
        ("claim", claiming.claim_query(SCHEMA, request(), None, await beyond(rig)), {DUE, FOUND}),
        ("look behind", behind_query(SCHEMA, request(), await beyond(rig)), {DUE}),
        ("success", reporting.report_query(SCHEMA, [success(token)()], None), {PRIMARY, FOUND}),
        ("mixed reports", reporting.report_query(SCHEMA, [fail, release], None), {PRIMARY, FOUND}),
        ("heartbeat", leases.heartbeat_query(SCHEMA, [token, other], None), {PRIMARY}),
        ("reap", leases.reap_query(SCHEMA, 10, [0.5] * 10, None), {RUNNING, FOUND}),
        ("lookup", claiming.claimed_by_query(SCHEMA, str(uuid4())), {RUNNING}),
    ]


@PLANTED
@pytest.mark.parametrize("generic", [True, False], ids=["planned once", "planned each time"])
@pytest.mark.parametrize("statistics", STATISTICS)
async def test_hot_statements_use_their_index_whatever_the_statistics(
    rig: Rig, statistics: str, generic: bool
) -> None:
    """Claims walk the index of due jobs, reports and heartbeats the primary key, the reaper the running jobs.

    And none of them sorts, hashes or merges rows of the table: the first row comes before the last was looked at.
    """
    await planted(rig, statistics)
    for name, query, expected in await hot(rig):
        found = explained(rig.dsn, query, generic=generic)
        assert (name, paths(found), beneath(found)) == (name, expected, set())
        assert paths(found, "job_events") == set()


@PLANTED
@pytest.mark.parametrize("limit", [1, 1_000])
@pytest.mark.parametrize("statistics", ["none", "of pending jobs that have all ended", "of a full table"])
async def test_a_claim_reads_as_many_rows_as_it_takes(rig: Rig, statistics: str, limit: int) -> None:
    """Planned once for all limits, it stops when it has enough; what is due later is then not looked for."""
    await planted(rig, statistics)
    await rig.ask(BACK)
    found = explained(rig.dsn, claiming.claim_query(SCHEMA, request(limit), None), analyze=True)
    rows, _ = walked(found, "jobs_due")
    assert rows == limit


@PLANTED
async def test_a_claim_that_finds_little_reads_one_row_later_on_each_level(rig: Rig) -> None:
    """For the next due time it looks at the first delayed job of each level, not at all ten thousand."""
    await planted(rig, "none")
    await rig.ask("UPDATE fencepost.jobs SET run_at = run_at + interval '1 day'")
    query = claiming.claim_query(SCHEMA, request(), None, await beyond(rig))
    rows, _ = walked(explained(rig.dsn, query, analyze=True), "jobs_due")
    assert rows <= len(LEVELS)


@PLANTED
@pytest.mark.parametrize("limit", [1, 1_000])
async def test_the_reaper_stops_at_its_limit(rig: Rig, limit: int) -> None:
    """Ten thousand lapsed leases cost a batch no more than its own rows."""
    await planted(rig, "none")
    await rig.ask(START)
    await rig.ask("UPDATE fencepost.jobs SET lease_expires_at = now() WHERE state = 'running'")
    query = leases.reap_query(SCHEMA, limit, [0.5] * limit, None)
    rows, _ = walked(explained(rig.dsn, query, analyze=True), "jobs_running")
    assert rows == limit


def pages(dsn: str, query: Query, index: str) -> int:
    """How many pages the scans of an index touch when a statement runs."""
    return walked(explained(dsn, query, analyze=True), index)[1]


@PLANTED
async def test_under_a_pinned_horizon_only_full_scans_walk_the_dead(rig: Rig) -> None:
    """B109: 30,000 claimed jobs leave dead entries that nothing can remove; a claim from the frontier touches few."""
    await rig.queues.register(["default"])
    with psycopg.connect(rig.dsn) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM fencepost.jobs")
        await rig.ask(CROWD, 120_000)
        await rig.ask(
            "UPDATE fencepost.jobs SET state = 'succeeded' WHERE state = 'pending' AND run_at < now()"
        )
        await rig.ask("VACUUM fencepost.jobs")
        scan = await beyond(rig)
        await rig.submit(*[submission(priority=priority) for priority in range(10)])
        full = pages(rig.dsn, claiming.claim_query(SCHEMA, request(), None), "jobs_due")
        short = pages(rig.dsn, claiming.claim_query(SCHEMA, request(), None, scan), "jobs_due")
    assert full > 10_000
    assert short < 200
