"""B140–B147: submit keys through API, library and worker, on PostgreSQL."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import psycopg
import pytest

from fencepost import Context, Fencepost
from fencepost.adapters.postgres.callers_transactions import PostgresCallersTransactions
from fencepost.application.submitting import SubmitRequest, submission
from fencepost.domain.commands import Origin
from fencepost.entrypoints.api.caller import ACTOR
from fencepost.entrypoints.container import closed
from support.api import in_process, postgres_container
from support.live import LiveWorker, finished, rows
from support.rig import Rig, rig_over

JOB: dict[str, Any] = {"type": "work", "payload": {"a": 1}}
COUNTS = "SELECT (SELECT count(*) FROM fencepost.jobs), (SELECT count(*) FROM fencepost.submit_keys)"
NOISE = random.Random(6_000)
LONG = {
    "6,000 random": "".join(
        NOISE.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=6_000)
    ),
    "6,000 a": "a" * 6_000,
    "256": "x" * 256,
}
NONE = {"empty": "", "blank": " ", "ideographic blank": "\u3000", "NUL": "a\x00", "surrogate": "\ud800"}
WIDEST = "".join(chr(NOISE.randrange(0x10000, 0x110000)) for _ in range(255))


@pytest.fixture
async def api(emptied: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over an empty database."""
    container = postgres_container(emptied)
    async with in_process(container, timeout=30) as client:
        yield client
    await closed(container)


@pytest.fixture
async def rig(emptied: str) -> AsyncIterator[Rig]:
    """The adapter over the same."""
    async with rig_over(emptied) as rig:
        yield rig


async def post(api: httpx2.AsyncClient, key: str, **changes: Any) -> httpx2.Response:
    """Submit with a key in the header."""
    return await api.post("/v1/jobs", json={**JOB, **changes}, headers={"Idempotency-Key": key})


async def batch(api: httpx2.AsyncClient, key: str, **changes: Any) -> httpx2.Response:
    """Submit with a key in the body, where it may be any text."""
    return await api.post("/v1/jobs/batch", json={"jobs": [{**JOB, "key": key, **changes}]})


@pytest.mark.parametrize("end", ["rollback", "commit"])
async def test_a_request_that_waits_for_another_transaction_is_answered_by_its_end(
    api: httpx2.AsyncClient, rig: Rig, end: str
) -> None:
    """B141: T1 holds the key; request 2 blocks, then creates the job (rollback) or gets T1's (commit)."""
    first = submission(SubmitRequest(type="work", payload={"a": 1}, key="k"), Origin("user:test"), ACTOR)
    async with await psycopg.AsyncConnection.connect(rig.dsn) as t1:
        [held] = await PostgresCallersTransactions().submit_in(t1, [first])
        second = asyncio.create_task(post(api, "k"))
        await rig.waiting()
        await (t1.commit() if end == "commit" else t1.rollback())
    answer = await second
    assert answer.status_code == (200 if end == "commit" else 201)
    assert answer.json()["created"] is (end == "rollback")
    assert (answer.json()["job_id"] == held.job_id) is (end == "commit")
    assert await rows(rig.dsn, COUNTS) == [(1, 1)]


async def test_a_key_belongs_to_a_request_and_its_owner(emptied: str, api: httpx2.AsyncClient) -> None:
    """B142: another body is 422 with nothing executed; the library, another owner, has a key k of its own."""
    assert (await post(api, "k")).json() == {"job_id": 1, "created": True}
    for other in ({"payload": {"a": 2}}, {"type": "other"}, {"priority": 6}, {"delay": 5}):
        answer = await post(api, "k", **other)
        assert (answer.status_code, answer.json()["code"]) == (422, "key_conflict")
        assert (await batch(api, "k", **other)).json()["code"] == "key_conflict"
    assert await rows(emptied, COUNTS) == [(1, 1)]
    async with Fencepost(emptied) as app:

        @app.job
        async def work(ctx: Context, a: int) -> None: ...

        assert (await work.options(key="k").submit(2)).created
        assert not (await work.options(key="k").submit(2)).created
    assert (await post(api, "k")).json() == {"job_id": 1, "created": False}
    assert await rows(emptied, COUNTS) == [(2, 2)]


@pytest.mark.parametrize("key", [*LONG.values(), "", " "], ids=[*LONG, "empty", "blank"])
async def test_a_header_that_is_no_key_is_refused(emptied: str, api: httpx2.AsyncClient, key: str) -> None:
    """B144: empty, blank or over-long keys give 422 naming the header, and nothing is stored."""
    answer = await post(api, key)
    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (422, "Idempotency-Key")
    assert await rows(emptied, COUNTS) == [(0, 0)]


@pytest.mark.parametrize("field", ["key", "effect_key"])
@pytest.mark.parametrize("key", [*LONG.values(), *NONE.values()], ids=[*LONG, *NONE])
async def test_a_field_that_is_no_key_is_refused(
    emptied: str, api: httpx2.AsyncClient, field: str, key: str
) -> None:
    """B144, B164: the same in a body, for both kinds of key; what JSON cannot hold for PostgreSQL is invalid JSON."""
    body = json.dumps({"jobs": [{"type": "work", field: key}]})
    answer = await api.post("/v1/jobs/batch", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["errors"][0]["pointer"] == f"/jobs/0/{field}"
    assert await rows(emptied, COUNTS) == [(0, 0)]


async def test_keys_are_told_apart_exactly(emptied: str, api: httpx2.AsyncClient) -> None:
    """B144: case and normal form make another key, and 255 characters of four bytes each fit the index."""
    keys = ["K", "k", "\u00e9", "e\u0301", "x" * 255, WIDEST, " k", "k "]
    first = [(await batch(api, key)).json()["jobs"][0] for key in keys]
    assert [answer["created"] for answer in first] == [True] * len(keys)
    again = [(await batch(api, key)).json()["jobs"][0] for key in keys]
    assert again == [{"job_id": answer["job_id"], "created": False} for answer in first]
    assert len({answer["job_id"] for answer in first}) == len(keys)
    assert [(await post(api, key)).json()["job_id"] for key in keys[:2]] == [
        first[0]["job_id"],
        first[1]["job_id"],
    ]
    assert await rows(emptied, COUNTS) == [(len(keys), len(keys))]


async def test_a_key_outlives_its_job_and_the_pruning(emptied: str, api: httpx2.AsyncClient) -> None:
    """B147: after a worker completed the job, and after ``prune``, the key still has the original id, for its life."""

    async def work(ctx: Context, a: int) -> None: ...

    job_id = (await post(api, "k")).json()["job_id"]
    async with LiveWorker(emptied, work):
        await finished(emptied)
    replay = {"job_id": job_id, "created": False}
    assert (await post(api, "k")).json() == replay
    prune = f"SELECT fencepost.prune(ARRAY[{job_id}]::bigint[], 'user:eva', NULL, 'old')"
    assert await rows(emptied, prune) == [([job_id],)]
    assert (await api.get(f"/v1/jobs/{job_id}")).status_code == 404
    assert (await post(api, "k")).json() == replay
    assert (await batch(api, "k")).json()["jobs"] == [replay]
    assert (await post(api, "k", priority=1)).json()["code"] == "key_conflict"
    await rows(emptied, "UPDATE fencepost.submit_keys SET expires_at = clock_timestamp() RETURNING 1")
    assert (await post(api, "k")).json()["created"]
