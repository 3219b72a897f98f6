"""Reading over HTTP: pages, filters, ETags, queues and the global log."""

import json

import httpx2
import pytest

from support.api import Memory


async def fill(client: httpx2.AsyncClient, number: int, **job: object) -> None:
    """Submit jobs, all in one transaction."""
    jobs = [{"type": "t", **job}] * number
    assert (await client.post("/v1/jobs/batch", json={"jobs": jobs})).status_code == 201


async def test_pages_show_each_job_once(client: httpx2.AsyncClient) -> None:
    """Jobs of one instant are paged without a gap while others are submitted and cancelled."""
    await fill(client, 25)
    seen: list[int] = []
    address = "/v1/jobs?limit=10"
    while address:
        page = (await client.get(address)).json()
        seen += [job["job_id"] for job in page["items"]]
        await fill(client, 20)
        await client.post(f"/v1/jobs/{seen[-1]}/cancel")
        address = f"/v1/jobs?limit=10&cursor={page['next']}" if page["next"] else ""
    assert seen == list(range(25, 0, -1))


async def test_the_last_page_has_no_cursor(client: httpx2.AsyncClient) -> None:
    """A page that is full but last says so."""
    await fill(client, 10)
    page = (await client.get("/v1/jobs?limit=10")).json()
    assert (len(page["items"]), page["next"]) == (10, None)


async def test_a_cursor_belongs_to_its_filter(client: httpx2.AsyncClient) -> None:
    """With another filter, or altered, a cursor gives 400; with another limit it is fine."""
    await fill(client, 3)
    cursor = (await client.get("/v1/jobs?limit=1&type=t&state=pending&state=dead")).json()["next"]
    same = f"/v1/jobs?limit=2&state=dead&state=pending&type=t&cursor={cursor}"
    assert len((await client.get(same)).json()["items"]) == 2
    for other in (
        f"?type=u&cursor={cursor}",
        f"?cursor={cursor}",
        "?cursor=",
        "?cursor=AAAA",
        "?cursor=é",
        f"?type=t&cursor={cursor}x",
    ):
        answer = await client.get(f"/v1/jobs{other}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor"), other


@pytest.mark.parametrize(
    "filter", [{"type": "a_b"}, {"type": "%"}, {"type": "' OR 1=1--"}, {"type": "a\\"}, {"queue": "_"}]
)
async def test_filters_are_literal(client: httpx2.AsyncClient, filter: dict[str, str]) -> None:
    """A filter is neither a pattern nor SQL."""
    await fill(client, 1, type="aXb", queue="q")
    assert (await client.get("/v1/jobs", params=filter)).json()["items"] == []


async def test_filters_hold_together(client: httpx2.AsyncClient, memory: Memory) -> None:
    """State, queue, type and time of submission narrow a list together."""
    await fill(client, 2, type="a", queue="x")
    await client.post("/v1/jobs/1/cancel")
    memory.clock.advance(seconds=1)
    await fill(client, 1, type="a", queue="y")
    for query, ids in {
        "state=cancelled": [1],
        "state=cancelled&state=pending": [3, 2, 1],
        "type=a&queue=y": [3],
        "submitted_from=2030-01-01T00:00:01Z": [3],
        "submitted_before=2030-01-01T00:00:01Z&state=pending": [2],
        "submitted_before=2030-01-01T01:00:01%2B01:00&dismissed=false&state=cancelled": [1],
    }.items():
        page = (await client.get(f"/v1/jobs?{query}")).json()
        assert [job["job_id"] for job in page["items"]] == ids, query


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("limit=1&limit=2", "limit"),
        ("limit=%EF%BC%91", "limit"),
        ("state=done", "state"),
        ("dismissed=1", "dismissed"),
        ("status=dead", "status"),
        ("type=%00", "type"),
    ],
)
async def test_a_bad_parameter_is_named(client: httpx2.AsyncClient, query: str, name: str) -> None:
    """A misspelt or malformed filter gives 422 instead of a list that is too long."""
    answer = await client.get(f"/v1/jobs?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, name)


async def test_a_list_leaves_payloads_out(client: httpx2.AsyncClient) -> None:
    """A page of jobs stays small whatever their payloads."""
    await fill(client, 1, payload={"secret": 1})
    [job] = (await client.get("/v1/jobs")).json()["items"]
    assert "payload" not in job
    assert "result" not in job


async def test_the_etag_is_the_seq(client: httpx2.AsyncClient) -> None:
    """A reader that has the newest event gets 304, one that has not gets the job."""
    await fill(client, 1)
    first = await client.get("/v1/jobs/1")
    assert first.headers["etag"] == '"1"'
    for tag in ('"1"', 'W/"1"', '"0", "1"', "*"):
        again = await client.get("/v1/jobs/1", headers={"If-None-Match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", '"1"')
    await client.post("/v1/jobs/1/cancel")
    changed = await client.get("/v1/jobs/1", headers={"If-None-Match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')


async def test_head_is_get_without_a_body(client: httpx2.AsyncClient) -> None:
    """HEAD has the status and headers of GET."""
    await fill(client, 1)
    answer = await client.head("/v1/jobs/1")
    assert (answer.status_code, answer.headers["etag"]) == (200, '"1"')


async def test_queues_are_paused_and_resumed(client: httpx2.AsyncClient) -> None:
    """A pause and its end are shown, and repeating either changes nothing; names may hold slashes."""
    await fill(client, 2, queue="eu/mail")
    for path, verdicts in {
        "pause": ["accepted", "already_applied"],
        "resume": ["accepted", "already_applied"],
    }.items():
        answers = [await client.post(f"/v1/queues/eu/mail/{path}", json={"reason": "r"}) for _ in range(2)]
        assert [answer.json() for answer in answers] == [
            {"queue": "eu/mail", "verdict": verdict} for verdict in verdicts
        ]
        [queue] = (await client.get("/v1/queues")).json()["items"]
        assert (queue["paused_at"] is not None) is (path == "pause")
        assert (queue["name"], queue["pending"], queue["due"], queue["running"]) == ("eu/mail", 2, 2, 0)


@pytest.mark.parametrize("name", ["a%20b", "x" * 129, "%00", "ä"])
async def test_a_name_that_is_none_cannot_be_paused(client: httpx2.AsyncClient, name: str) -> None:
    """A queue's name in the path obeys the rule of names."""
    answer = await client.post(f"/v1/queues/{name}/pause")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "name")


async def test_the_global_log_is_paged_by_position(client: httpx2.AsyncClient) -> None:
    """Events of jobs and of queues come in one order, each once."""
    await fill(client, 3)
    await client.post("/v1/queues/q/pause", json={"reason": "why"})
    await client.post("/v1/jobs/2/cancel")
    names: list[str] = []
    after: int | None = 0
    while after is not None:
        page = (await client.get(f"/v1/events?limit=2&after={after}")).json()
        names += [event["name"] for event in page["items"]]
        after = page["next_after"]
    assert names == ["enqueued"] * 3 + ["queue_pausing", "queue_paused", "cancelled"]


async def test_the_global_log_can_be_narrowed(client: httpx2.AsyncClient, memory: Memory) -> None:
    """By name, job, subject, actor and time."""
    await fill(client, 2)
    memory.clock.advance(seconds=1)
    await client.post("/v1/jobs/2/cancel")
    await client.post("/v1/queues/q/pause")
    for query, names in {
        "name=cancelled&name=queue_paused": ["cancelled", "queue_paused"],
        "job_id=2": ["enqueued", "cancelled"],
        "subject=queue:q": ["queue_pausing", "queue_paused"],
        "actor=nobody": [],
        "since=2030-01-01T00:00:01Z&job_id=2": ["cancelled"],
    }.items():
        page = (await client.get(f"/v1/events?{query}")).json()
        assert [event["name"] for event in page["items"]] == names, query


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "job_id=0", "since=now", "names=x", f"after={2**63}"]
)
async def test_a_bad_question_to_the_log_is_named(client: httpx2.AsyncClient, query: str) -> None:
    """Parameters of the log obey the same rules."""
    answer = await client.get(f"/v1/events?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (
        422,
        query.split("=", maxsplit=1)[0],
    )


async def test_the_log_is_exported_line_by_line(client: httpx2.AsyncClient) -> None:
    """NDJSON has every event, also beyond one page, or as many as asked for."""
    await fill(client, 700)
    await fill(client, 301)
    for query, number in (("", 1_001), ("?limit=3", 3), ("?after=1001", 0)):
        answer = await client.get(f"/v1/events{query}", headers={"Accept": "application/x-ndjson"})
        assert answer.headers["content-type"] == "application/x-ndjson"
        lines = answer.text.splitlines()
        assert [json.loads(line)["position"] for line in lines] == list(range(1, number + 1))
