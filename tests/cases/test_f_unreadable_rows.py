"""B131: moments and durations that Python cannot read, by every way into the database."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import psycopg
import pytest
from psycopg.errors import CheckViolation

from fencepost import Context, Fencepost, InvalidInput
from fencepost.entrypoints.container import closed
from support.api import in_process, postgres_container
from support.live import LiveWorker, counted, finished, rows, submit

FAR = "36869-01-01T00:00:00Z"
IMPOSSIBLE = (
    "run_at = '36869-01-01T00:00:00Z'",
    "run_at = 'infinity'",
    "run_at = '-infinity'",
    "submitted_at = 'infinity'",
    "cancel_requested_at = '36869-01-01T00:00:00Z'",
    "timeout = '100000000 years'",
    "timeout = '-1 s'",
    "lease = '100000000 years'",
    "lease = '0'",
)
READ = "SELECT CAST(state AS text), count(*) FROM fencepost.jobs GROUP BY state"


@pytest.fixture
async def api(emptied: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over an empty database."""
    container = postgres_container(emptied)
    async with in_process(container) as client:
        yield client
    await closed(container)


@pytest.mark.parametrize("asked", [{"delay": 2**40}, {"delay": "12725829d"}, {"run_at": FAR}], ids=str)
async def test_a_moment_beyond_the_calendar_is_refused(
    api: httpx2.AsyncClient, asked: dict[str, object]
) -> None:
    """B131: a delay or run_at beyond the year 9999 gives 422 at a submit and at an edit; nothing is written."""
    assert (await api.post("/v1/jobs", json={"type": "work", **asked})).status_code == 422
    assert (await api.get("/v1/jobs")).json()["items"] == []
    kept = (await api.post("/v1/jobs", json={"type": "work", "run_at": "9999-12-31T23:59:59Z"})).json()
    if "run_at" in asked:
        assert (await api.patch(f"/v1/jobs/{kept['job_id']}", json=asked)).status_code == 422
    assert (await api.get(f"/v1/jobs/{kept['job_id']}")).json()["run_at"] == "9999-12-31T23:59:59.000000Z"


@pytest.mark.parametrize("delay", [2**40, timedelta.max, float("inf")], ids=str)
async def test_the_library_refuses_it_too(emptied: str, delay: float) -> None:
    """B131: the error names the option."""
    async with Fencepost(emptied) as app:

        @app.job
        async def work(ctx: Context) -> None: ...

        with pytest.raises(InvalidInput, match="delay"):
            await work.options(delay=delay).submit()


@pytest.mark.parametrize("change", IMPOSSIBLE)
async def test_sql_cannot_make_a_row_that_nobody_can_read(emptied: str, change: str) -> None:
    """B131: the database refuses the value, so that listing and claiming go on for this row and all others."""
    jobs = await submit(emptied, 5)
    with psycopg.connect(emptied) as connection, pytest.raises(CheckViolation):
        connection.execute(f"UPDATE fencepost.jobs SET {change} WHERE job_id = %s".encode(), [jobs[2]])
    await _run_all(emptied)
    assert await rows(emptied, READ) == [("succeeded", 5)]


@pytest.mark.unproven("the due time is changed without an event")
@pytest.mark.parametrize("moment", ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
async def test_the_edges_of_the_calendar_are_read_and_claimed_around(
    emptied: str, api: httpx2.AsyncClient, moment: str
) -> None:
    """B131: a row that SQL puts to the first or the last possible moment is listed; the others run."""
    jobs = await submit(emptied, 5)
    await rows(emptied, f"UPDATE fencepost.jobs SET run_at = '{moment}' WHERE job_id = {jobs[2]} RETURNING 1")
    assert len((await api.get("/v1/jobs")).json()["items"]) == 5
    async with LiveWorker(emptied, _nothing):
        due = "SELECT count(*) FROM fencepost.jobs WHERE state <> 'succeeded' AND run_at <= now()"
        await counted(emptied, due, 0)
    late = 1 if moment.startswith("9999") else 0
    assert dict(await rows(emptied, READ)).get("pending", 0) == late


async def test_a_queue_cannot_be_paused_at_an_unreadable_moment(
    emptied: str, api: httpx2.AsyncClient
) -> None:
    """B131: the same holds for the other moment that people set by hand, and the queues can still be listed."""
    await submit(emptied, 1)
    with psycopg.connect(emptied) as connection, pytest.raises(CheckViolation):
        connection.execute("INSERT INTO fencepost.queues (name, paused_at) VALUES ('side', 'infinity')")
    assert (await api.get("/v1/queues")).status_code == 200


async def _nothing(ctx: Context) -> None:
    """Succeed."""


async def _run_all(dsn: str) -> None:
    async with LiveWorker(dsn, _nothing):
        await finished(dsn)
