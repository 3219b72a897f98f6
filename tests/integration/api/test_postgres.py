"""The API over PostgreSQL: the main flows, on each server."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import psycopg
import pytest

from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.verifying import verify
from fencepost.domain import commands as c
from fencepost.domain.token import Token
from fencepost.entrypoints.container import Container, closed
from support.api import in_process, postgres_container

ORIGIN = c.Origin("worker:1")


@pytest.fixture
async def container(emptied: str) -> AsyncIterator[Container]:
    """Ports over an empty database."""
    container = postgres_container(emptied)
    yield container
    await closed(container)


@pytest.fixture
async def pg(container: Container) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over that database."""
    async with in_process(container, timeout=30) as client:
        yield client


async def claim(container: Container) -> Token:
    """Let a worker take the one due job."""
    await container.queue_store().register(["default"])
    request = ClaimRequest(queue="default", types=frozenset({"t"}), limit=1, claim_id="1" * 32, origin=ORIGIN)
    [job] = (await container.job_store().claim(request)).jobs
    return job.token


async def test_a_job_lives_through_the_api(pg: httpx2.AsyncClient, container: Container) -> None:
    """Submit, look, edit, run, requeue, cancel: each step is in the history, which keeps every promise."""
    payload = '{"n":9007199254740993,"m":-9223372036854775809,"f":0.1,"s":"\\\\u0000 😀"}'
    body = f'{{"type":"t","payload":{payload}}}'
    json_type = {"content-type": "application/json"}
    job_id = (await pg.post("/v1/jobs", content=body, headers=json_type)).json()["job_id"]
    shown = await pg.get(f"/v1/jobs/{job_id}")
    assert f'"payload":{payload},' in shown.text
    assert (await pg.patch(f"/v1/jobs/{job_id}", json={"priority": 9, "reason": "hurry"})).is_success
    assert (
        await pg.get(f"/v1/jobs/{job_id}", headers={"If-None-Match": shown.headers["etag"]})
    ).status_code == 200
    token = await claim(container)
    await container.job_store().report([c.Succeed(origin=ORIGIN, token=token, result='{"x": 1.50}')])
    assert '"result":{"x": 1.50}' in (await pg.get(f"/v1/jobs/{job_id}")).text
    assert (await pg.post(f"/v1/jobs/{job_id}/requeue", json={"fresh_effect_key": True})).is_success
    assert (await pg.post(f"/v1/jobs/{job_id}/cancel")).json()["verdict"] == "accepted"
    events = (await pg.get(f"/v1/jobs/{job_id}/events")).json()["events"]
    names = ["enqueued", "edited", "claimed", "succeeded", "requeued", "cancelled"]
    assert [event["name"] for event in events] == names
    assert (await verify(container.event_log())).clean


async def test_a_refused_report_is_shown(pg: httpx2.AsyncClient, container: Container) -> None:
    """What a worker that lost its lease tried is beside the job's history."""
    await pg.post("/v1/jobs", json={"type": "t"})
    token = await claim(container)
    assert (await pg.post(f"/v1/jobs/{token.job_id}/revoke")).is_success
    await container.job_store().report([c.Succeed(origin=ORIGIN, token=token)])
    evidence = (await pg.get(f"/v1/jobs/{token.job_id}/events")).json()["evidence"]
    assert [(event["name"], event["actor"]) for event in evidence] == [("report_refused", "worker:1")]


async def test_large_jobs_and_full_batches_are_accepted(pg: httpx2.AsyncClient) -> None:
    """B113: A payload of 100 kB and a batch of 1,000 jobs are no trouble for wake-ups."""
    assert (await pg.post("/v1/jobs", json={"type": "t", "payload": {"a": "x" * 100_000}})).status_code == 201
    answer = await pg.post("/v1/jobs/batch", json={"jobs": [{"type": "t"}] * 1_000})
    assert answer.status_code == 201
    assert len({job["job_id"] for job in answer.json()["jobs"]}) == 1_000


async def test_one_key_makes_one_job(pg: httpx2.AsyncClient) -> None:
    """B140: Fifty parallel submits with one key: one job, fifty times its id, one of them created it, none failed."""
    send = [pg.post("/v1/jobs", json={"type": "t"}, headers={"Idempotency-Key": "k"}) for _ in range(50)]
    answers = await asyncio.gather(*send)
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [201]
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    assert len((await pg.get("/v1/jobs")).json()["items"]) == 1


async def test_a_key_used_otherwise_is_a_conflict(pg: httpx2.AsyncClient) -> None:
    """The same key with another job changes nothing."""
    headers = {"Idempotency-Key": "k"}
    await pg.post("/v1/jobs", json={"type": "t"}, headers=headers)
    answer = await pg.post("/v1/jobs", json={"type": "t", "priority": 1}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "key_conflict")


async def test_a_key_outlives_the_row_of_its_job(pg: httpx2.AsyncClient) -> None:
    """A finished job still answers for its key."""
    headers = {"Idempotency-Key": "k"}
    job_id = (await pg.post("/v1/jobs", json={"type": "t"}, headers=headers)).json()["job_id"]
    await pg.post(f"/v1/jobs/{job_id}/cancel")
    again = await pg.post("/v1/jobs", json={"type": "t"}, headers=headers)
    assert again.json() == {"job_id": job_id, "created": False}


@pytest.mark.parametrize("key", ["K", "k" * 255, "é" * 255, "\U0001f600" * 255])
async def test_long_keys_fit_the_index(pg: httpx2.AsyncClient, key: str) -> None:
    """Any key of up to 255 characters can be stored and found again, however many bytes it has."""
    batch = {"jobs": [{"type": "t", "key": key, "effect_key": key}]}
    answers = [await pg.post("/v1/jobs/batch", json=batch) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]


async def test_pages_keep_their_place(pg: httpx2.AsyncClient) -> None:
    """Jobs of one transaction are each shown once while others come and go."""
    await pg.post("/v1/jobs/batch", json={"jobs": [{"type": "t", "queue": "q"}] * 25})
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await pg.get("/v1/jobs", params={"limit": "10", "queue": "q", **cursor})).json()
        seen += [job["job_id"] for job in page["items"]]
        await pg.post("/v1/jobs/batch", json={"jobs": [{"type": "t", "queue": "q"}] * 10})
        await pg.post(f"/v1/jobs/{seen[-1]}/cancel")
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert len(seen) == len(set(seen)) == 25
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize("type", ["a_b", "%", "' OR 1=1--", "a\\", "aXb "])
async def test_filters_are_literal(pg: httpx2.AsyncClient, type: str) -> None:
    """A filter is neither a pattern nor SQL."""
    await pg.post("/v1/jobs", json={"type": "aXb"})
    assert (await pg.get("/v1/jobs", params={"type": type})).json()["items"] == []


async def test_the_log_of_everything(pg: httpx2.AsyncClient) -> None:
    """Jobs and queues share one order of positions, in pages and line by line."""
    await pg.post("/v1/jobs/batch", json={"jobs": [{"type": "t"}] * 3})
    assert (await pg.post("/v1/queues/default/pause", json={"reason": "r"})).json()["verdict"] == "accepted"
    [queue] = (await pg.get("/v1/queues")).json()["items"]
    assert (queue["name"], queue["pending"], queue["paused_at"] is None) == ("default", 3, False)
    await pg.post("/v1/queues/default/resume")
    items = (await pg.get("/v1/events")).json()["items"]
    names = ["enqueued"] * 3 + ["queue_pausing", "queue_paused", "queue_resumed"]
    assert [event["name"] for event in items] == names
    lines = (await pg.get("/v1/events", headers={"Accept": "application/x-ndjson"})).text.splitlines()
    assert [json.loads(line) for line in lines] == items


@pytest.mark.parametrize(
    "job",
    [
        {"run_at": "1970-01-01T00:00:00Z"},
        {"run_at": "9999-12-31T23:59:59.999999Z"},
        {"delay": "36000d"},
        {"timeout": "36000d", "lease": "1d", "max_attempts": 32_000},
        {"retry": {"policy": "delays", "delays": [0, 0.000001]}},
        {"payload": {"a": 10**4_000}},
        {"payload": {"a": 1e308, "b": -1e-308, "c": [[[]]]}},
        {"unique": {"fields": [], "period": "36000d", "across_queues": True}},
    ],
)
async def test_the_edges_of_what_is_allowed_can_be_stored(
    pg: httpx2.AsyncClient, job: dict[str, Any]
) -> None:
    """Whatever passes the rules is accepted by the database, too."""
    answer = await pg.post("/v1/jobs", json={"type": "t", **job})
    assert answer.status_code == 201
    shown = await pg.get(answer.headers["location"])
    assert shown.status_code == 200
    assert shown.json().get("run_at", "").startswith(job.get("run_at", "")[:19])


async def test_readiness_follows_database_and_schema(
    pg: httpx2.AsyncClient, emptied: str, empty_database: str
) -> None:
    """A database without our schema is not ready; with it, it is."""
    assert (await pg.get("/readyz")).json() == {"ok": True}
    bare = postgres_container(empty_database)
    async with in_process(bare) as client:
        assert (await client.get("/readyz")).json()["code"] == "schema_pending"
        assert (await client.get("/livez")).is_success
        for answer in (await client.post("/v1/jobs", json={"type": "t"}), await client.get("/v1/jobs")):
            assert (answer.status_code, answer.json()["code"]) == (503, "schema_pending")
    await closed(bare)


async def test_writes_are_refused_while_the_database_is_read_only(
    pg: httpx2.AsyncClient, container: Container, emptied: str
) -> None:
    """B121: During a failover the API answers 503 and nothing is lost; afterwards it goes on by itself."""
    with psycopg.connect(emptied, autocommit=True) as admin:
        name = admin.info.dbname
        admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await container.database().close()
        answer = await pg.post("/v1/jobs", json={"type": "t"})
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        admin.execute("SET default_transaction_read_only = off")
        admin.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    assert (await pg.post("/v1/jobs", json={"type": "t"})).status_code == 201
    assert len((await pg.get("/v1/jobs")).json()["items"]) == 1


async def test_a_locked_table_is_waited_for_only_so_long(pg: httpx2.AsyncClient, emptied: str) -> None:
    """B119: While somebody holds the table the API answers 503 in time, and goes on afterwards without a restart."""
    loop = asyncio.get_running_loop()
    await pg.post("/v1/jobs", json={"type": "t"})
    with psycopg.connect(emptied) as holder:
        holder.execute("LOCK TABLE fencepost.jobs IN ACCESS EXCLUSIVE MODE")
        began = loop.time()
        answers = await asyncio.gather(*(pg.post("/v1/jobs", json={"type": "t"}) for _ in range(3)))
        assert {answer.status_code for answer in answers} == {503}
        assert loop.time() - began < 10
    assert (await pg.post("/v1/jobs", json={"type": "t"})).status_code == 201
