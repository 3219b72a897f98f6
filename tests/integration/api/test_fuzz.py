"""Nothing that can be sent makes the API fail."""

import asyncio
import json
from functools import cache
from typing import Any

import httpx2
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.entrypoints.api import operations, requests
from fencepost.entrypoints.api.app import create_app
from fencepost.entrypoints.api.schedules import backfills
from fencepost.entrypoints.api.schedules import requests as schedules
from support.api import Memory

JSON = {"content-type": "application/json"}
WORDS = [
    *requests.ITEM,
    *operations.EDIT,
    *operations.REQUEUE,
    *schedules.CREATE,
    *schedules.TRIGGER,
    *schedules.PREVIEW,
    *backfills.BACKFILL,
    "policy",
    "base",
    "delays",
    "fields",
    "jobs",
    "partial",
]
names = st.sampled_from(WORDS) | st.text(max_size=5)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["t", "5s", "2030-01-01T00:00:00Z", "exponential", "constant", "delays", "default"])
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=6)
)
jobs = st.dictionaries(st.sampled_from(list(requests.ITEM)), values, max_size=6).map(
    lambda job: {"type": "t", **job}
)
definitions = st.dictionaries(st.sampled_from(list(schedules.CREATE)), values, max_size=4).map(
    lambda fields: {"name": "s", "cron": "* * * * *", "job": {"type": "t"}, **fields}
)
ranges = st.dictionaries(st.sampled_from(list(backfills.BACKFILL)), values, max_size=3).map(
    lambda fields: {"from": "2029-12-31T00:00:00Z", "to": "2029-12-31T01:00:00Z", **fields}
)
bodies = (
    values.map(json.dumps)
    | jobs.map(json.dumps)
    | definitions.map(json.dumps)
    | ranges.map(json.dumps)
    | st.fixed_dictionaries({"jobs": st.lists(jobs | values, max_size=3), "partial": st.booleans()}).map(
        json.dumps
    )
    | st.binary(max_size=50)
)
BELOW = ("", "/preview", "/s/pause", "/s/trigger", "/s/backfill")
paths = st.sampled_from(
    [
        ("POST", "/v1/jobs"),
        ("POST", "/v1/jobs/batch"),
        ("PATCH", "/v1/jobs/1"),
        *(("POST", f"/v1/jobs/1/{name}") for name in ("cancel", "requeue", "revoke", "dismiss")),
        ("POST", "/v1/queues/q/pause"),
        *(("POST", f"/v1/schedules{below}") for below in BELOW),
        ("POST", "/v1/backfills/b/stop"),
        *((method, "/v1/schedules/s") for method in ("PUT", "DELETE")),
    ]
)
HEADERS = (
    *("Idempotency-Key", "X-Request-Id", "Host", "Origin", "Content-Type", "Content-Length"),
    *("Content-Encoding", "If-Match", "Accept"),
)
READ = (
    *("/v1/jobs", "/v1/jobs/1", "/v1/events", "/v1/queues"),
    *(f"/v1/schedules{below}" for below in ("", "/s", "/s/next", "/s/firings", "/s/backfills")),
)
queries = st.dictionaries(
    st.sampled_from(
        ["state", "type", "limit", "cursor", "since", "after", "name", "number", "submitted_from"]
    )
    | st.text(max_size=4),
    st.text(max_size=12) | st.integers().map(str),
    max_size=3,
)


@cache
def api() -> FastAPI:
    """One API for all examples; its jobs pile up."""
    return create_app(Memory().container, owned=False)


def ask(method: str, path: str, **options: Any) -> httpx2.Response:
    """Send one request."""

    async def once() -> httpx2.Response:
        transport = httpx2.ASGITransport(api(), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **options)

    return asyncio.run(once())


def check(answer: httpx2.Response) -> None:
    """See that the answer is a success or a proper problem, in JSON."""
    assert answer.status_code < 500
    assert answer.status_code == 204 or json.loads(answer.content)
    assert answer.is_success or answer.headers["content-type"] == "application/problem+json"


@settings(max_examples=300)
@given(paths, bodies)
def test_no_body_makes_it_fail(route: tuple[str, str], body: str | bytes) -> None:
    """Any bytes and any JSON get a success or a problem below 500."""
    check(ask(*route, content=body, headers=JSON))


@settings(max_examples=100)
@given(st.sampled_from(READ), queries)
def test_no_query_makes_it_fail(path: str, query: dict[str, str]) -> None:
    """Any parameters get a success or a problem below 500."""
    safe = {name: value.encode(errors="surrogatepass") for name, value in query.items() if name.isprintable()}
    check(ask("GET", path, params={name: value.decode(errors="replace") for name, value in safe.items()}))


@settings(max_examples=100)
@given(st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=20))
def test_no_header_makes_it_fail(value: str) -> None:
    """Any header value gets a success or a problem below 500."""
    for name in (
        "Idempotency-Key",
        "X-Request-Id",
        "Host",
        "Origin",
        "Content-Type",
        "Content-Length",
        "If-None-Match",
    ):
        headers = {**JSON, name: value.encode("latin-1")}
        check(ask("POST", "/v1/jobs", content=b'{"type":"t"}', headers=headers))
    precondition = {**JSON, "If-Match": value.encode("latin-1")}
    check(
        ask("PUT", "/v1/schedules/s", content=b'{"cron":"@daily","job":{"type":"t"}}', headers=precondition)
    )
