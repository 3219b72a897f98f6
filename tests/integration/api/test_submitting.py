"""Submitting over HTTP: what is asked for is what is stored, and every broken rule is named by its place."""

from typing import Any

import httpx2
import pytest

from support.api import Memory

GOOD: dict[str, Any] = {"type": "mail.send", "payload": {"user_id": 42}}


async def test_a_job_is_accepted_with_its_address(client: httpx2.AsyncClient) -> None:
    """A submit answers 201 with the job's id, and the job is found where Location says."""
    answer = await client.post("/v1/jobs", json=GOOD)
    assert (answer.status_code, answer.json()) == (201, {"job_id": 1, "created": True})
    job = (await client.get(answer.headers["location"])).json()
    assert (job["type"], job["payload"], job["state"]) == ("mail.send", {"user_id": 42}, "pending")


async def test_every_option_is_kept(client: httpx2.AsyncClient) -> None:
    """What a submit says about queue, priority, times, retry and keys is what the job has."""
    options = {
        "queue": "mail",
        "priority": 8,
        "run_at": "2031-02-03T04:05:06.789Z",
        "max_attempts": 2,
        "timeout": None,
        "lease": "1m",
        "effect_key": "welcome-42",
    }
    retry = {"policy": "delays", "delays": ["1s", 2.5, "1h"]}
    await client.post("/v1/jobs", json={**GOOD, **options, "retry": retry})
    job = (await client.get("/v1/jobs/1")).json()
    stored = {**options, "run_at": "2031-02-03T04:05:06.789000Z", "lease": 60}
    assert job | stored == job
    assert job["retry"] == {"policy": "delays", "delays": [1, 2.5, 3600]}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"policy": "exponential"}, {"policy": "exponential", "base": 10, "cap": 900}),
        (
            {"policy": "exponential", "base": "2s", "cap": "1m"},
            {"policy": "exponential", "base": 2, "cap": 60},
        ),
        ({"policy": "constant", "delay": 0.5}, {"policy": "constant", "delay": 0.5}),
    ],
)
async def test_each_retry_policy_can_be_named(
    client: httpx2.AsyncClient, given: dict[str, Any], stored: dict[str, Any]
) -> None:
    """A policy comes out in the form in which it may go in."""
    await client.post("/v1/jobs", json={**GOOD, "retry": given})
    assert (await client.get("/v1/jobs/1")).json()["retry"] == stored


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"type": "no spaces"}, "/type"),
        ({"type": None}, "/type"),
        ({"queue": ""}, "/queue"),
        ({"priority": "5"}, "/priority"),
        ({"priority": True}, "/priority"),
        ({"priority": 5.0}, "/priority"),
        ({"priority": 10}, "/priority"),
        ({"max_attempts": 0}, "/max_attempts"),
        ({"effect_key": " "}, "/effect_key"),
        ({"run_at": None}, "/run_at"),
        ({"delay": None}, "/delay"),
        ({"lease": None}, "/lease"),
        ({"delay": 1, "run_at": "2031-01-01T00:00:00Z"}, "/delay"),
        ({"retry": {"policy": "never"}}, "/retry/policy"),
        ({"retry": {"policy": ["constant"]}}, "/retry/policy"),
        ({"retry": {"policy": "constant"}}, "/retry/delay"),
        ({"retry": {"policy": "constant", "delay": 0}}, "/retry/delay"),
        ({"retry": {"policy": "constant", "delay": 1, "cap": 2}}, "/retry/cap"),
        ({"retry": {"policy": "delays", "delays": [1, -1]}}, "/retry/delays/1"),
        ({"retry": {"policy": "delays", "delays": []}}, "/retry/delays"),
        ({"retry": 5}, "/retry"),
        ({"unique": 1}, "/unique"),
        ({"unique": {"fields": "user_id"}}, "/unique/fields"),
        ({"unique": {"fields": [1]}}, "/unique/fields/0"),
        ({"unique": {"fields": ["other"]}}, "/unique/fields"),
        ({"unique": {"period": 0}}, "/unique/period"),
        ({"unique": {"across_queues": 1}}, "/unique/across_queues"),
        ({"surprise": 1}, "/surprise"),
        ({"a/b~c": 1}, "/a~1b~0c"),
        ({"key": "k"}, "/key"),
    ],
)
async def test_a_broken_rule_is_named_by_its_place(
    client: httpx2.AsyncClient, memory: Memory, wrong: dict[str, Any], pointer: str
) -> None:
    """A value that breaks a rule gives 422 with a JSON pointer to it, and nothing is written."""
    answer = await client.post("/v1/jobs", json={**GOOD, **wrong})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "invalid_input")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert memory.database.jobs == {}


async def test_a_missing_type_is_named(client: httpx2.AsyncClient) -> None:
    """The one required field is missed by name."""
    problem = (await client.post("/v1/jobs", json={"payload": {}})).json()
    assert problem["errors"] == [{"pointer": "/type", "rule": "is missing"}]


async def test_unique_options_lead_to_the_earlier_job(client: httpx2.AsyncClient) -> None:
    """While a job is unfinished, the same unique payload field answers with it: 200, not created."""
    job = {**GOOD, "unique": {"fields": ["user_id"]}}
    first, second = [await client.post("/v1/jobs", json=job) for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == {"job_id": first.json()["job_id"], "created": False}
    assert "idempotency-replayed" not in second.headers


async def test_unique_may_be_just_true_or_false(client: httpx2.AsyncClient) -> None:
    """True takes the defaults, as in the library; false asks for nothing."""
    wanted: tuple[Any, ...] = (True, {}, False)
    first, again, free = [await client.post("/v1/jobs", json={**GOOD, "unique": asked}) for asked in wanted]
    assert [answer.status_code for answer in (first, again, free)] == [201, 200, 201]
    assert again.json()["job_id"] == first.json()["job_id"]


async def test_a_batch_is_answered_in_order(client: httpx2.AsyncClient) -> None:
    """A batch of a thousand jobs is accepted at once, each answered at its place."""
    jobs = [{**GOOD, "payload": {"n": n}} for n in range(1_000)]
    answer = await client.post("/v1/jobs/batch", json={"jobs": jobs})
    assert answer.status_code == 201
    ids = [item["job_id"] for item in answer.json()["jobs"]]
    assert [(await client.get(f"/v1/jobs/{ids[n]}")).json()["payload"] for n in (0, 999)] == [
        {"n": 0},
        {"n": 999},
    ]


@pytest.mark.parametrize("wrong", [{"priority": 11}, {"surprise": 1}, {"payload": []}, {"key": " "}])
async def test_one_bad_job_refuses_its_batch(
    client: httpx2.AsyncClient, memory: Memory, wrong: dict[str, Any]
) -> None:
    """The bad job is named by its index, and nothing of the batch is written."""
    answer = await client.post("/v1/jobs/batch", json={"jobs": [GOOD, GOOD, {**GOOD, **wrong}]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/jobs/2/{next(iter(wrong))}"
    assert memory.database.jobs == {}


async def test_a_partial_batch_takes_the_good_jobs(client: httpx2.AsyncClient, memory: Memory) -> None:
    """Bad jobs are answered at their places, whether they could not be read or break a rule of the domain."""
    both = {"delay": 1, "run_at": "2031-01-01T00:00:00Z"}
    jobs = [{"type": 1}, GOOD, {**GOOD, **both}, 7, GOOD]
    answer = await client.post("/v1/jobs/batch", json={"jobs": jobs, "partial": True})
    first, *rest = answer.json()["jobs"]
    assert answer.status_code == 201
    assert first["errors"][0]["pointer"] == "/jobs/0/type"
    assert rest[0] == {"job_id": 1, "created": True}
    assert rest[1]["errors"][0]["pointer"] == "/jobs/2/delay"
    assert rest[2]["errors"][0] == {"pointer": "/jobs/3", "rule": "must be a JSON object"}
    assert rest[3] == {"job_id": 2, "created": True}
    assert len(memory.database.jobs) == 2


@pytest.mark.parametrize("jobs", [[], [GOOD] * 1_001, {}, None])
async def test_a_batch_holds_1_to_1000_jobs(client: httpx2.AsyncClient, jobs: Any) -> None:
    """Neither an empty batch nor a larger one is taken."""
    answer = await client.post("/v1/jobs/batch", json={"jobs": jobs})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/jobs")


async def test_a_write_carries_who_and_which_request(client: httpx2.AsyncClient) -> None:
    """The event has the API's actor and the request id that came with the request."""
    answer = await client.post("/v1/jobs", json=GOOD, headers={"X-Request-Id": "trace-7"})
    assert answer.headers["x-request-id"] == "trace-7"
    [event] = (await client.get("/v1/jobs/1/events")).json()["events"]
    assert (event["actor"], event["request_id"]) == ("api:anonymous", "trace-7")


async def test_a_request_without_an_id_is_given_one(client: httpx2.AsyncClient) -> None:
    """The id that the API made is in the answer and in the event."""
    answer = await client.post("/v1/jobs", json=GOOD)
    [event] = (await client.get("/v1/jobs/1/events")).json()["events"]
    assert event["request_id"] == answer.headers["x-request-id"]
