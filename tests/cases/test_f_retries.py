"""B127, B133, B134: backoff, a dead job's second life, and retries beside unique options, on PostgreSQL."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from fencepost.application.context import Context
from fencepost.domain.commands import Fail, JobError
from fencepost.domain.retry import Exponential
from fencepost.domain.vocabulary import State, Verdict
from fencepost.entrypoints.container import closed
from support.api import in_process, postgres_container
from support.live import LiveWorker, counted, finished
from support.rig import WORKER, Rig, rig_over, submission

SECOND = timedelta(seconds=1)
ALMOST_ONE = 1 - 2**-53


@pytest.fixture
async def rig(emptied: str) -> AsyncIterator[Rig]:
    """The adapter over an empty database."""
    async with rig_over(emptied) as rig:
        yield rig


@pytest.fixture
async def api(emptied: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over the same."""
    container = postgres_container(emptied)
    async with in_process(container) as client:
        yield client
    await closed(container)


@pytest.mark.unproven("earlier failures are written into the row without their events")
@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(1, 300), (2, 600), (4, 2400), *((n, 3600) for n in (5, 12, 13, 64, 1023, 1024, 1025, 4000))],
)
async def test_no_number_of_failures_is_too_much_for_a_retry(rig: Rig, failures: int, seconds: int) -> None:
    """B127: with base 300 s and cap 3600 s the n-th failure waits min(3600, 300 · 2^(n−1)) s, short of the jitter."""
    policy = Exponential(300 * SECOND, 3600 * SECOND)
    [answer] = await rig.submit(submission(retry=policy, max_attempts=5000))
    await rig.ask("UPDATE fencepost.jobs SET failures = %s", failures - 1)
    [token] = await rig.claim()
    failed = Fail(origin=WORKER, token=token, error=JobError("Oops"), draw=ALMOST_ONE)
    assert await rig.jobs.report([failed]) == [Verdict.ACCEPTED]
    job, event = await rig.job(answer.job_id), (await rig.log.history(answer.job_id))[-1]
    assert (job.state, job.failures) == (State.PENDING, failures)
    assert timedelta(0) < seconds * SECOND - (job.run_at - event.at) <= timedelta(microseconds=1)


async def test_a_dead_job_has_a_whole_new_budget_after_a_requeue(
    emptied: str, api: httpx2.AsyncClient
) -> None:
    """B133: dead after max_attempts failures, requeued by an operator: claimable, and dead after as many again."""
    attempts: list[tuple[int, int]] = []

    async def fail(ctx: Context) -> None:
        attempts.append((ctx.attempt, ctx.failures))
        raise ValueError("no")

    retry = {"policy": "delays", "delays": [0]}
    asked = {"type": "work", "max_attempts": 2, "retry": retry}
    job_id = (await api.post("/v1/jobs", json=asked)).json()["job_id"]
    async with LiveWorker(emptied, fail):
        await counted(emptied, _count("dead"), 1)
        shown = (await api.get(f"/v1/jobs/{job_id}")).json()
        assert (shown["attempt"], shown["failures"], shown["max_attempts"]) == (2, 2, 2)
        assert (await api.post(f"/v1/jobs/{job_id}/requeue")).status_code == 200
        await counted(emptied, "SELECT count(*) FROM fencepost.jobs WHERE state = 'dead' AND attempt = 4", 1)
    assert attempts == [(1, 0), (2, 1), (3, 0), (4, 1)]
    names = [event["name"] for event in (await api.get(f"/v1/jobs/{job_id}/events")).json()["events"]]
    assert names == ["enqueued", *["claimed", "failed"] * 2, "requeued", *["claimed", "failed"] * 2]


@pytest.mark.parametrize("how", ["unique", "key"])
async def test_a_retry_meets_no_newer_job_of_its_key(emptied: str, api: httpx2.AsyncClient, how: str) -> None:
    """B134: while A waits for its retry, B with the same key is A; A and 20 unrelated jobs then run, each once."""
    ran: list[tuple[int, int]] = []

    async def once(ctx: Context, **payload: Any) -> None:
        ran.append((ctx.job_id, ctx.attempt))
        if ctx.attempt == 1 and payload.get("fail"):
            raise ValueError("not yet")

    asked: dict[str, Any] = {"type": "work", "payload": {"fail": True}}
    asked["retry"] = {"policy": "delays", "delays": [0.5]}
    headers = {"Idempotency-Key": "k"} if how == "key" else {}
    if how == "unique":
        asked["unique"] = {}
    a = (await api.post("/v1/jobs", json=asked, headers=headers)).json()["job_id"]
    async with LiveWorker(emptied, once):
        await counted(emptied, "SELECT count(*) FROM fencepost.jobs WHERE failures = 1", 1)
        b = await api.post("/v1/jobs", json=asked, headers=headers)
        assert (b.status_code, b.json()) == (200, {"job_id": a, "created": False})
        others = await api.post("/v1/jobs/batch", json={"jobs": [{"type": "work"}] * 20})
        await finished(emptied)
    ids = [job["job_id"] for job in others.json()["jobs"]]
    assert sorted(ran) == sorted([(a, 1), (a, 2), *((job_id, 1) for job_id in ids)])
    shown = (await api.get("/v1/jobs?state=succeeded")).json()["items"]
    assert {job["job_id"] for job in shown} == {a, *ids}


def _count(state: str) -> str:
    return f"SELECT count(*) FROM fencepost.jobs WHERE state = '{state}'"
