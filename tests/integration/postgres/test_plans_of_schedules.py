"""How the ledger leads to jobs: a page is a walk of an index, whatever the planner believes."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.schedule_store import EVERY_ROW, LedgerFilter
from fencepost.domain.firing import Outcome
from support.plans import explained, paths, walked
from support.rig import Rig

PLANTED = pytest.mark.unproven("rows without events stand in for years of firings")
NUMBER = 100_000
JOBS = """
INSERT INTO fencepost.jobs (type, queue, priority, run_at, max_attempts, lease, submitted_at, retry, state)
SELECT 'work', 'default', 5, now(), 5, '30 s', now(), '{"policy": "constant", "delay_us": 1}', 'succeeded'
FROM generate_series(1, %s)
"""
LEDGER = """
INSERT INTO fencepost.firings
SELECT CASE WHEN n %% 100 = 0 THEN 'rare' WHEN n < 20000 THEN 'stopped' ELSE 'busy' END, at, 'cron',
    CASE WHEN n %% 3 = 0 THEN 'skipped' ELSE 'fired' END, 'due', at, 1, CASE WHEN n %% 3 = 0 THEN NULL ELSE n END,
    1, '2026a', at
FROM generate_series(1, %s) AS n, LATERAL (SELECT timestamptz '2030-01-01 00:00Z' + n * interval '1 min') AS t (at)
"""
ANALYZE = "ANALYZE fencepost.jobs, fencepost.firings"
STATISTICS: dict[str, Sequence[str]] = {
    "none": (JOBS, LEDGER),
    "of empty tables": (ANALYZE, JOBS, LEDGER),
    "of full tables": (JOBS, LEDGER, ANALYZE),
}


PAGES = {"busy": (None, 60_000), "rare": (None, 60_000), "stopped": (None, 15_000)}


@PLANTED
@pytest.mark.parametrize("generic", [True, False], ids=["planned once", "planned each time"])
@pytest.mark.parametrize("statistics", STATISTICS)
async def test_a_page_of_a_schedules_jobs_reads_no_more_rows_than_it_shows(
    rig: Rig, statistics: str, generic: bool
) -> None:
    """Of a ledger of 100,000 rows; also of a schedule that fires rarely, or has not for long, and of a later page."""
    for statement in STATISTICS[statistics]:
        await rig.ask(statement, *([NUMBER] if statement != ANALYZE else []))
    for name, pages in PAGES.items():
        for below in pages:
            query = rig.reader.page_query(JobFilter(schedule=name), below, 50)
            found = explained(rig.dsn, query, generic=generic, analyze=True)
            assert paths(found) == {("Index Scan", "jobs_pkey")}
            assert walked(found, "firings_jobs_of_schedule")[0] == walked(found, "jobs_pkey")[0] == 50


@PLANTED
@pytest.mark.parametrize("statistics", STATISTICS)
async def test_a_page_of_a_ledger_begins_where_the_one_before_it_ended(rig: Rig, statistics: str) -> None:
    """However deep it lies, it reads its rows and one more; with a filter also those that this leaves out."""
    for statement in STATISTICS[statistics]:
        await rig.ask(statement, *([NUMBER] if statement != ANALYZE else []))
    store, skipped = PostgresScheduleStore(rig.database), LedgerFilter(outcomes=frozenset({Outcome.SKIPPED}))
    for before in (None, datetime(2030, 2, 1, tzinfo=UTC)):
        for where, most in {EVERY_ROW: 51, skipped: 160}.items():
            query = store.firings_query("busy", where, before, 50)
            rows, pages = walked(explained(rig.dsn, query, analyze=True), "firings_pkey")
            assert rows == 51
            assert pages < most
