"""Submit keys over HTTP."""

import asyncio
from typing import Any

import httpx2
import pytest

from support.api import Memory

JOB: dict[str, Any] = {"type": "t", "payload": {"a": 1, "b": 2}}


async def submit(client: httpx2.AsyncClient, key: str | bytes, job: Any = JOB) -> httpx2.Response:
    """Submit with a key."""
    return await client.post(
        "/v1/jobs", json=job, headers=[(b"Idempotency-Key", key if isinstance(key, bytes) else key.encode())]
    )


async def test_the_same_request_gets_the_same_job(client: httpx2.AsyncClient) -> None:
    """A repeated submit answers 200 with the first job's id and says that it is a replay."""
    first, again = (
        await submit(client, "k"),
        await submit(client, "k", {"payload": {"b": 2, "a": 1}, "type": "t"}),
    )
    assert (first.status_code, "idempotency-replayed" in first.headers) == (201, False)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert again.json() == {"job_id": first.json()["job_id"], "created": False}
    assert again.headers["location"] == first.headers["location"]


async def test_another_request_under_the_key_is_a_conflict(
    client: httpx2.AsyncClient, memory: Memory
) -> None:
    """B142: The same key with another job gives 422, and nothing is executed."""
    await submit(client, "k")
    answer = await submit(client, "k", {**JOB, "priority": 6})
    assert (answer.status_code, answer.json()["code"]) == (422, "key_conflict")
    assert len(memory.database.jobs) == 1


async def test_many_at_once_make_one_job(client: httpx2.AsyncClient) -> None:
    """B140: Fifty parallel submits with one key get one id, and exactly one of them created it."""
    answers = await asyncio.gather(*(submit(client, "k") for _ in range(50)))
    assert {answer.json()["job_id"] for answer in answers} == {1}
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [201]


@pytest.mark.parametrize(
    "key", ["", " ", '""', '" "', "x" * 256, "x" * 6_000, "é", b"\xff", "a\tb", '"a\tb"']
)
async def test_a_key_that_is_none_is_refused(
    client: httpx2.AsyncClient, memory: Memory, key: str | bytes
) -> None:
    """B144: Empty, blank, long or unprintable keys give 422 naming the header."""
    answer = await submit(client, key)
    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (422, "Idempotency-Key")
    assert memory.database.jobs == {}


async def test_two_keys_are_no_key(client: httpx2.AsyncClient) -> None:
    """A header given twice is refused: whichever was taken, it might be the wrong one."""
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    assert (await client.post("/v1/jobs", json=JOB, headers=headers)).status_code == 422


async def test_keys_are_compared_exactly(client: httpx2.AsyncClient) -> None:
    """B144: Case matters; a quoted key is the key inside the quotes."""
    keys = ["K", "k", '"k"', r'"a\"b"', 'a"b', "x" * 255]
    ids = [(await submit(client, key)).json()["job_id"] for key in keys]
    assert ids == [1, 2, 2, 3, 3, 4]


async def test_a_batch_has_a_key_for_each_job(client: httpx2.AsyncClient) -> None:
    """Jobs of a batch and single ones share their keys; any text is one, whatever its normal form."""
    await submit(client, "k")
    keys = ["k", "\u00e9", "e\u0301", "\u00e9"]
    answer = await client.post("/v1/jobs/batch", json={"jobs": [{**JOB, "key": key} for key in keys]})
    assert [(item["job_id"], item["created"]) for item in answer.json()["jobs"]] == [
        (1, False),
        (2, True),
        (3, True),
        (2, False),
    ]


async def test_a_key_outlives_its_job(client: httpx2.AsyncClient, memory: Memory) -> None:
    """B147: A finished job, and even one that is gone, still answers for its key for seven days."""
    await submit(client, "k")
    await client.post("/v1/jobs/1/cancel")
    assert (await submit(client, "k")).json() == {"job_id": 1, "created": False}
    del memory.database.jobs[1]
    memory.clock.advance(days=6.9)
    assert (await submit(client, "k")).json() == {"job_id": 1, "created": False}
    memory.clock.advance(days=0.2)
    assert (await submit(client, "k")).json() == {"job_id": 2, "created": True}


@pytest.mark.parametrize(
    "path", ["/v1/jobs/batch", "/v1/jobs/1/cancel", "/v1/jobs/1/requeue", "/v1/queues/q/pause"]
)
async def test_a_key_is_refused_where_it_would_not_be_kept(client: httpx2.AsyncClient, path: str) -> None:
    """B142: Where a key could not be honoured, the request is refused rather than run under a false promise."""
    answer = await client.post(path, json={"jobs": [JOB]}, headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["code"]) == (501, "unsupported_header")
