"""A long transaction elsewhere keeps dead rows alive; how much slower claims get is printed, and bounded."""

from statistics import quantiles
from time import perf_counter

import psycopg
import pytest

from fencepost.adapters.postgres.job_store import PostgresJobStore
from support.figures import Note
from support.rig import Rig, rig_over, submission, success
from support.site import Site

EACH = 5
FIRST = 1_000 // EACH


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_pinned_horizon_slows_claims_tenfold_at_most(site: Site, note: Note) -> None:
    """B109: with a snapshot held open 20,000 jobs go through; the 95th percentile of claims stays in bounds."""
    async with rig_over(site.dsn) as rig, await psycopg.AsyncConnection.connect(site.dsn) as reader:
        rig.jobs = PostgresJobStore(rig.database)  # with the share of full scans that workers have
        await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await reader.execute("SELECT count(*) FROM fencepost.jobs")
        took = [await churn(rig) for _ in range(20_000 // EACH)]
        await reader.rollback()
    first, last = (quantiles(part, n=20)[-1] for part in (took[:FIRST], took[-FIRST:]))
    note(
        f"claims of {EACH} under a pinned horizon: p95 {first * 1e3:.1f} ms, after 20,000 jobs {last * 1e3:.1f} ms"
    )
    assert last <= 10 * first


async def churn(rig: Rig) -> float:
    """Submit, claim and finish a few jobs; return how long the claim took."""
    await rig.submit(*[submission() for _ in range(EACH)])
    began = perf_counter()
    tokens = await rig.claim(EACH)
    took = perf_counter() - began
    assert len(tokens) == EACH
    await rig.jobs.report([success(token)() for token in tokens])
    return took
