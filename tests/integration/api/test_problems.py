"""Every answer that is not a success is a problem with a stable code."""

from typing import Any

import httpx2
import pytest
from dependency_injector import providers

from fencepost.domain.errors import (
    FencepostError,
    JobBusy,
    KeyInProgress,
    LeaseLost,
    Overloaded,
    Unavailable,
    UnknownOutcome,
)
from fencepost.entrypoints.api.problems import KINDS, Code, body_fault
from support.api import Memory, replace

SECRET = "connection to server at 10.0.0.9, user admin, failed"


class Failing:
    """A port on which everything raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, _name: str) -> Any:
        async def fail(*_: Any, **__: Any) -> None:
            raise self.error

        return fail


def check(answer: httpx2.Response, code: Code) -> dict[str, Any]:
    """See that an answer is the problem it should be, and return it."""
    problem: dict[str, Any] = answer.json()
    status, title = KINDS[code]
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert (problem["type"], problem["title"]) == (f"urn:fencepost:problem:{code}", title)
    assert problem["request_id"] == answer.headers["x-request-id"]
    return problem


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/jobs/", "/v2/jobs", "/docs", "/v1/jobs/1/x", "//v1/jobs", "/%FF"]
)
async def test_an_unknown_path_is_not_found(client: httpx2.AsyncClient, path: str) -> None:
    """Nothing is redirected and nothing is guessed; the detail says where the API and its description are."""
    problem = check(await client.get(path), Code.NOT_FOUND)
    assert "/v1" in problem["detail"]
    assert "/openapi.json" in problem["detail"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"])
async def test_an_unknown_method_is_named(client: httpx2.AsyncClient, method: str) -> None:
    """405 says which method there is."""
    answer = await client.request(method, "/v1/jobs/1/cancel")
    check(answer, Code.METHOD_NOT_ALLOWED)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/jobs", "GET, HEAD, POST"),
        ("/v1/jobs/1", "GET, HEAD, PATCH"),
        ("/v1/schedules", "GET, HEAD, POST"),
        ("/v1/schedules/a/b", "GET, HEAD, PUT, DELETE"),
        ("/v1/events", "GET, HEAD"),
        ("/livez", "GET, HEAD"),
    ],
)
async def test_every_method_of_a_path_is_named(client: httpx2.AsyncClient, path: str, methods: str) -> None:
    """However many routes there are for it; those that are named are taken."""
    answer = await client.request("TRACE", path)
    check(answer, Code.METHOD_NOT_ALLOWED)
    assert answer.headers["allow"] == methods
    for method in methods.split(", "):
        assert (await client.request(method, path)).status_code != 405


@pytest.mark.parametrize(
    ("error", "code", "retry_after"),
    [
        (Unavailable(SECRET), Code.DATABASE_UNAVAILABLE, "2"),
        (Overloaded(SECRET), Code.OVERLOADED, "1"),
        (UnknownOutcome(SECRET), Code.OUTCOME_UNKNOWN, None),
        (KeyInProgress(SECRET), Code.KEY_IN_PROGRESS, "1"),
        (LeaseLost(SECRET), Code.INTERNAL_ERROR, None),
        (RuntimeError(SECRET), Code.INTERNAL_ERROR, None),
    ],
)
async def test_a_failure_behind_the_api_is_a_problem(
    client: httpx2.AsyncClient, memory: Memory, error: Exception, code: Code, retry_after: str | None
) -> None:
    """What went wrong is told by a code; what the driver said, or a traceback, never leaves the process."""
    for port in ("submitter", "job_store", "job_reader", "event_log", "queue_store", "scheduling"):
        replace(memory.container, port, Failing(error))
    for method, path in (
        ("POST", "/v1/jobs"),
        ("POST", "/v1/jobs/1/cancel"),
        ("GET", "/v1/jobs"),
        ("GET", "/v1/jobs/1"),
        ("GET", "/v1/jobs/1/events"),
        ("GET", "/v1/events"),
        ("GET", "/v1/queues"),
        ("POST", "/v1/queues/q/pause"),
        ("GET", "/v1/schedules"),
        ("GET", "/v1/schedules/s/firings"),
        ("DELETE", "/v1/schedules/s"),
        ("POST", "/v1/schedules/s/trigger"),
    ):
        body = {"type": "t"} if path == "/v1/jobs" and method == "POST" else None
        answer = await client.request(method, path, json=body)
        check(answer, code)
        assert answer.headers.get("retry-after") == retry_after
        assert SECRET not in answer.text


async def test_an_unknown_outcome_says_what_to_do(client: httpx2.AsyncClient, memory: Memory) -> None:
    """After a lost reply the caller is told to repeat the request with its key."""
    replace(memory.container, "submitter", Failing(UnknownOutcome("lost")))
    problem = check(await client.post("/v1/jobs", json={"type": "t"}), Code.OUTCOME_UNKNOWN)
    assert "same Idempotency-Key" in problem["detail"]


async def test_an_export_that_cannot_begin_is_a_problem(client: httpx2.AsyncClient, memory: Memory) -> None:
    """The first page is read before the answer begins."""
    replace(memory.container, "event_log", Failing(Unavailable("away")))
    answer = await client.get("/v1/events", headers={"Accept": "application/x-ndjson"})
    check(answer, Code.DATABASE_UNAVAILABLE)


@pytest.mark.parametrize("error", [Unavailable(SECRET), TimeoutError()])
async def test_liveness_does_not_depend_on_the_database(
    client: httpx2.AsyncClient, memory: Memory, error: Exception
) -> None:
    """While the database is away the process lives, and is not ready."""
    assert (await client.get("/readyz")).json() == {"ok": True}
    replace(memory.container, "event_log", Failing(error))
    assert (await client.get("/livez")).json() == {"ok": True}
    check(await client.get("/readyz"), Code.DATABASE_UNAVAILABLE)


async def test_a_pending_schema_is_not_ready(client: httpx2.AsyncClient, memory: Memory) -> None:
    """Until the schema is up to date the process is not ready; once it was, it is not looked at again."""
    pending = ["0007"]
    memory.container.pending_migrations.override(providers.Callable(lambda: pending))
    assert "migrate" in check(await client.get("/readyz"), Code.SCHEMA_PENDING)["detail"]
    pending.clear()
    assert (await client.get("/readyz")).is_success
    pending.append("0008")
    assert (await client.get("/readyz")).is_success


async def test_long_texts_are_cut(client: httpx2.AsyncClient) -> None:
    """A problem quotes what was sent, but not at any length."""
    for body in ({"type": "t", "x" * 900_000: 1}, {"type": "t", "payload": {"y" * 900_000: 1}}):
        answer = await client.post("/v1/jobs", json=body)
        assert (answer.status_code, len(answer.content) < 2_000) == (422, True)
    unique = {"type": "t", "unique": {"fields": ["z" * 900_000]}}
    assert len((await client.post("/v1/jobs", json=unique)).content) < 2_000
    assert len((await client.get("/v1/jobs?" + "q" * 9_000)).content) < 2_000


def test_a_pointer_ends_where_it_is_still_true() -> None:
    """A step that is too long is left out, and so is what lies below it."""
    assert body_fault(("payload", "k" * 1_000, 3), "rule").name == "/payload"
    assert body_fault(("a/b", "c~d", 0), "rule").name == "/a~1b/c~0d/0"


def test_every_expected_error_has_a_code() -> None:
    """No error that callers may expect falls through to the 500 of a bug."""
    from fencepost.entrypoints.api.problems import problem_of

    for kind in (JobBusy, KeyInProgress, Overloaded, Unavailable, UnknownOutcome):
        assert problem_of(kind("x")).status != 500
    with pytest.raises(FencepostError):
        problem_of(LeaseLost("x"))
