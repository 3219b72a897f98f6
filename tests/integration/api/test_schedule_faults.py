"""Schedules that cannot be: each fault is named by its place, and nothing is stored."""

import json
from typing import Any

import httpx2
import pytest

from fencepost.domain.errors import Unavailable, UnknownOutcome
from support.api import Memory, replace
from support.schedules import Plane

JSON = {"content-type": "application/json"}
DEFINITION: dict[str, Any] = {"cron": "*/5 * * * *", "job": {"type": "work"}}
REPORT = {"name": "report", **DEFINITION}
AT = "/v1/schedules/report"
BELOW = ("pause", "resume", "trigger")


async def nothing_is_stored(api: httpx2.AsyncClient) -> bool:
    """Whether there is no schedule, and no event."""
    lists = [(await api.get(path)).json()["items"] for path in ("/v1/schedules", "/v1/events")]
    return lists == [[], []]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": "a b"}, "/name"),
        ({"name": ""}, "/name"),
        ({"name": "x" * 129}, "/name"),
        ({"name": "a\n"}, "/name"),
        ({"name": None}, "/name"),
        ({"cron": 5}, "/cron"),
        ({"cron": None}, "/cron"),
        ({"cron": ""}, "/cron"),
        ({"cron": "*/5 * * * *\n"}, "/cron"),
        ({"cron": "every 5 minutes"}, "/cron"),
        ({"cron": "every 10ms"}, "/cron"),
        ({"tz": "Europe/Atlantis"}, "/tz"),
        ({"tz": "../../etc/passwd"}, "/tz"),
        ({"tz": "europe/oslo"}, "/tz"),
        ({"tz": None}, "/tz"),
        ({"dst": "skip"}, "/dst"),
        ({"dst": []}, "/dst"),
        ({"missed": "some"}, "/missed"),
        ({"missed": {}}, "/missed"),
        ({"overlap": "SKIP"}, "/overlap"),
        ({"pause_on_failure": "yes"}, "/pause_on_failure"),
        ({"pause_on_failure": 1}, "/pause_on_failure"),
        ({"starts_at": "2030-01-01T00:00:00"}, "/starts_at"),
        ({"starts_at": "2030-01-01"}, "/starts_at"),
        ({"starts_at": None}, "/starts_at"),
        ({"starts_at": "9999-12-31T23:59:59Z"}, "/starts_at"),
        ({"ends_at": "2030-01-01T00:00:00"}, "/ends_at"),
        ({"cron": "30 2 * * *", "ends_at": "2030-01-01T02:29:59Z"}, "/ends_at"),
        ({"ends_at": "2029-01-01T00:00:00Z"}, "/ends_at"),
        ({"ends_at": 1893456000}, "/ends_at"),
        ({"jitter": "2d"}, "/jitter"),
        ({"jitter": -1}, "/jitter"),
        ({"jitter": None}, "/jitter"),
        ({"catchup_window": 9}, "/catchup_window"),
        ({"catchup_window": "soon"}, "/catchup_window"),
        ({"job": None}, "/job"),
        ({"job": []}, "/job"),
        ({"job": {}}, "/job/type"),
        ({"job": {"type": "a b"}}, "/job/type"),
        ({"job": {"type": "t", "priority": 10}}, "/job/priority"),
        ({"job": {"type": "t", "priority": True}}, "/job/priority"),
        ({"job": {"type": "t", "queue": "a b"}}, "/job/queue"),
        ({"job": {"type": "t", "max_attempts": 0}}, "/job/max_attempts"),
        ({"job": {"type": "t", "timeout": 0}}, "/job/timeout"),
        ({"job": {"type": "t", "lease": 0.01}}, "/job/lease"),
        ({"job": {"type": "t", "lease": "2d"}}, "/job/lease"),
        ({"job": {"type": "t", "payload": []}}, "/job/payload"),
        ({"job": {"type": "t", "payload": {"a": "x" * 300_000}}}, "/job/payload"),
        ({"job": {"type": "t", "retry": {"policy": "magic"}}}, "/job/retry/policy"),
        ({"job": {"type": "t", "retry": {"policy": "constant"}}}, "/job/retry/delay"),
        ({"job": {"type": "t", "retry": {"policy": "constant", "delay": 0}}}, "/job/retry/delay"),
        ({"job": {"type": "t", "retry": {"policy": "delays", "delays": [1, "x"]}}}, "/job/retry/delays/1"),
        ({"job": {"type": "t", "run_at": "2030-01-01T00:00:00Z"}}, "/job/run_at"),
        ({"job": {"type": "t", "delay": 5}}, "/job/delay"),
        ({"job": {"type": "t", "effect_key": "k"}}, "/job/effect_key"),
        ({"job": {"type": "t", "unique": True}}, "/job/unique"),
        ({"job": {"type": "t", "key": "k"}}, "/job/key"),
        ({"type": "t"}, "/type"),
        ({"cronn": "* * * * *"}, "/cronn"),
        ({"version": 1}, "/version"),
        ({"next_fire_at": None}, "/next_fire_at"),
        ({"reason": 5}, "/reason"),
        ({"reason": "x" * 2_001}, "/reason"),
    ],
)
async def test_a_fault_is_named_by_its_place(
    api: httpx2.AsyncClient, change: dict[str, Any], pointer: str
) -> None:
    """A broken rule gives 422 with a pointer into the body."""
    answer = await api.post("/v1/schedules", json={**REPORT, **change})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "invalid_input")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert await nothing_is_stored(api)


@pytest.mark.parametrize("field", ["name", "cron", "job"])
async def test_what_is_missing_is_named(api: httpx2.AsyncClient, field: str) -> None:
    """There are no defaults for it."""
    answer = await api.post("/v1/schedules", json={k: v for k, v in REPORT.items() if k != field})
    assert answer.json()["errors"] == [{"pointer": f"/{field}", "rule": "is missing"}]


@pytest.mark.parametrize(
    "cron",
    [
        *("0 0 30 2 *", "* * 31 2 *", "0 0 31 4,6,9,11 *"),
        "0 0 12 * * *",
        *("R R * * *", "R/15 * * * *", "H * * * *", "H(0-5) 3 * * *"),
        *("@reboot", "@every 5m", "@fortnightly"),
        *("5," * 100_000 + "5 * * * *", "5" * 5_000 + " * * * *", "*/" + "4" * 4_000 + " * * * *"),
    ],
    ids=lambda cron: cron[:20],
)
async def test_an_expression_that_cannot_be_meant_is_refused(api: httpx2.AsyncClient, cron: str) -> None:
    """B038, B042, B044, B045, B047: impossible dates, six fields, random times, other aliases, huge numbers."""
    for answer in (
        await api.post("/v1/schedules", json={**REPORT, "cron": cron}),
        await api.post("/v1/schedules/preview", json={"cron": cron}),
    ):
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/cron")
        assert len(answer.content) < 2_000
    assert await nothing_is_stored(api)


async def test_a_body_of_megabytes_is_refused_unread(api: httpx2.AsyncClient) -> None:
    """B047: a million minutes are too many bytes."""
    answer = await api.post("/v1/schedules", json={**REPORT, "cron": "5," * 1_000_000 + "5 * * * *"})
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert await nothing_is_stored(api)


@pytest.mark.parametrize(
    ("cron", "stored"),
    [("@daily", "@daily"), ("@DAILY", "@daily"), (" @daily", "@daily"), ("@annually", "@yearly")],
)
async def test_aliases_are_stored_in_one_way(api: httpx2.AsyncClient, cron: str, stored: str) -> None:
    """B045: however they are written."""
    assert (await api.post("/v1/schedules", json={**REPORT, "cron": cron})).json()["cron"] == stored


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ('{"name":"a","name":"b","cron":"* * * * *","job":{"type":"t"}}', ""),
        ('{"name":"a","cron":"* * * * *","job":{"type":"t","type":"u"}}', ""),
        ('{"name":"a","cron":"* * * * *","jitter":NaN,"job":{"type":"t"}}', ""),
        ('{"name":"a","cron":"* * * * *","jitter":-Infinity,"job":{"type":"t"}}', ""),
        ('{"name":"a","cron":"* * * * *","jitter":1e999,"job":{"type":"t"}}', "/jitter"),
        ('{"name":"a","cron":"* * * * *","job":{"type":"t","payload":{"a":[0,1e400]}}}', "/job/payload/a/1"),
        (r'{"name":"a","cron":"* * * * *\u0000","job":{"type":"t"}}', "/cron"),
        (r'{"name":"a","cron":"* * * * *","tz":"\ud800","job":{"type":"t"}}', "/tz"),
        ("[]", ""),
        ("{", ""),
        ("", ""),
    ],
)
async def test_json_that_cannot_be_kept_is_refused(api: httpx2.AsyncClient, body: str, pointer: str) -> None:
    """Repeated keys, no numbers, NUL, surrogates, bad syntax: nothing is written."""
    for method, path in (("POST", "/v1/schedules"), ("PUT", AT)):
        answer = await api.request(method, path, content=body, headers=JSON)
        assert answer.status_code == (422 if body == "[]" else 400)
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert await nothing_is_stored(api)


@pytest.mark.parametrize(("depth", "status"), [(64, 201), (65, 400)])
async def test_a_payload_has_its_own_64_levels(api: httpx2.AsyncClient, depth: int, status: int) -> None:
    """The schedule around it takes nothing from them."""
    payload = '{"a":' * depth + "1" + "}" * depth
    body = json.dumps(REPORT).replace('{"type": "work"}', f'{{"type":"work","payload":{payload}}}')
    answer = await api.post("/v1/schedules", content=body, headers=JSON)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("pause", {"reason": 5}, "/reason"),
        ("pause", {"until": "2030-01-01T00:00:00Z"}, "/until"),
        ("resume", {"now": True}, "/now"),
        ("trigger", {"overlap": "all"}, "/overlap"),
        ("trigger", {"overlap": None}, "/overlap"),
        ("trigger", {"payload": {}}, "/payload"),
    ],
)
async def test_a_bad_operation_is_named_by_its_place(
    api: httpx2.AsyncClient, plane: Plane, path: str, body: dict[str, Any], pointer: str
) -> None:
    """Before the schedule is touched."""
    created = await plane.create()
    answer = await api.post(f"{AT}/{path}", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert await plane.schedule() == created


async def test_a_replacement_does_not_rename(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Its name is in the path only."""
    await plane.create()
    assert (await api.put(AT, json=REPORT)).json()["errors"][0]["pointer"] == "/name"


async def test_what_is_not_there_is_not_found(api: httpx2.AsyncClient) -> None:
    """Every operation on an unknown name gives 404; a replacement does not create."""
    answers = [
        *[await api.get(f"{AT}{below}") for below in ("", "/next", "/firings")],
        *[await api.post(f"{AT}/{below}") for below in BELOW],
        await api.put(AT, json=DEFINITION),
        await api.put(AT, json=DEFINITION, headers={"If-Match": "*"}),
        await api.delete(AT),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "not_found")}
    assert await nothing_is_stored(api)


@pytest.mark.parametrize("name", ["a%20b", "%00", "x" * 129, "%F0%9F%98%80", ""])
async def test_what_is_no_name_breaks_a_rule(api: httpx2.AsyncClient, name: str) -> None:
    """As with queues, the parameter is named."""
    for answer in (
        await api.get(f"/v1/schedules/{name}"),
        await api.post(f"/v1/schedules/{name}/pause"),
        await api.get(f"/v1/schedules/{name}/next"),
    ):
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "name")


async def test_parameters_that_nobody_knows_are_refused(api: httpx2.AsyncClient, plane: Plane) -> None:
    """A reason in the wrong place, or a misspelt limit, is not lost silently."""
    await plane.create()
    for method, path in (
        *[("POST", f"{AT}/{word}?reason=x") for word in BELOW],
        *(("DELETE", f"{AT}?version=1"), ("GET", f"{AT}?as_of=now"), ("GET", "/v1/schedules?page=2")),
        *(("GET", f"{AT}/next?n=3"), ("GET", f"{AT}/next?number=1001"), ("GET", f"{AT}/next?number=0")),
        *(("GET", f"{AT}/firings?limit=501"), ("GET", f"{AT}/firings?limit=1&limit=2")),
    ):
        answer = await api.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input"), path
    assert (await plane.schedule()).version == 1


async def test_only_json_is_taken(api: httpx2.AsyncClient) -> None:
    """A form, even an empty one, is not."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert (await api.post("/v1/schedules", content="a=b", headers=form)).status_code == 415
    assert (await api.post(f"{AT}/pause", headers=form)).status_code == 415


async def test_a_bad_definition_is_told_while_the_database_is_away(
    client: httpx2.AsyncClient, memory: Memory
) -> None:
    """What is wrong with it needs no database; what is right is told to come later."""
    replace(memory.container, "scheduling", Away(Unavailable("away")))
    bad = await client.post("/v1/schedules", json={**REPORT, "cron": "0 0 30 2 *"})
    good = await client.post("/v1/schedules", json=REPORT)
    assert (bad.status_code, good.status_code) == (422, 503)


async def test_an_unknown_outcome_is_a_problem(client: httpx2.AsyncClient, memory: Memory) -> None:
    """When the reply to the commit is lost, nobody claims to know."""
    replace(memory.container, "scheduling", Away(UnknownOutcome("lost")))
    for method, path in (("PUT", AT), ("DELETE", AT), *[("POST", f"{AT}/{word}") for word in BELOW]):
        answer = await client.request(method, path, json=DEFINITION if method == "PUT" else {})
        assert (answer.status_code, answer.json()["code"]) == (504, "outcome_unknown")


class Away:
    """A service on which everything raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, _name: str) -> Any:
        async def fail(*_: Any, **__: Any) -> None:
            raise self.error

        return fail
