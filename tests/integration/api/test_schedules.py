"""Schedules over HTTP: created, replaced, paused, triggered, deleted, each change with who and why."""

import asyncio
from typing import Any

import httpx2
import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.event import ControlEvent
from support.api import Memory, served
from support.schedules import MINUTE, Plane

REPORT: dict[str, Any] = {"name": "report", "cron": "*/5 * * * *", "job": {"type": "work"}}
DEFINITION = {name: value for name, value in REPORT.items() if name != "name"}
AT = "/v1/schedules/report"


async def create(api: httpx2.AsyncClient, **fields: Any) -> httpx2.Response:
    """Create the report, or a schedule like it."""
    return await api.post("/v1/schedules", json={**REPORT, **fields})


async def events(plane: Plane) -> list[tuple[str, str | None, str | None]]:
    """Name, actor and reason of every control event."""
    page = await PostgresEventLog(plane.database).page(LogFilter())
    return [(one.name.value, one.actor, one.reason) for one in page if isinstance(one, ControlEvent)]


async def test_a_schedule_is_shown_as_it_was_created(api: httpx2.AsyncClient, plane: Plane) -> None:
    """With the defaults of what was left out, what the expression means, and when it fires first."""
    answer = await create(api, reason="asked for")
    assert answer.status_code == 201
    assert (answer.headers["location"], answer.headers["etag"]) == (AT, '"1"')
    assert answer.json() == {
        "name": "report",
        "version": 1,
        "state": "active",
        "cron": "*/5 * * * *",
        "words": "Every 5 minutes, UTC",
        "tz": "UTC",
        "dst": "vixie",
        "starts_at": "2030-01-01T00:00:00.000000Z",
        "ends_at": None,
        "jitter": 0,
        "missed": "latest",
        "catchup_window": None,
        "overlap": "skip",
        "pause_on_failure": False,
        "job": {
            "type": "work",
            "queue": "default",
            "priority": 5,
            "max_attempts": 5,
            "timeout": 3600,
            "lease": 30,
            "retry": {"policy": "exponential", "base": 10, "cap": 900},
            "payload": {},
        },
        "created_at": "2030-01-01T00:00:00.000000Z",
        "next_fire_at": "2030-01-01T00:05:00.000000Z",
        "paused_at": None,
        "pause_reason": None,
        "waiting": None,
        "open_jobs": [],
        "last_job": None,
        "declared_by": None,
        "drifted": [],
        "drift": [],
    }
    shown = await api.get(AT)
    assert (shown.json(), shown.headers["etag"]) == (answer.json(), '"1"')
    assert await events(plane) == [("schedule_created", "api:anonymous", "asked for")]


WHOLE: dict[str, Any] = {
    "cron": "30 2 * * MON-FRI",
    "tz": "Europe/Oslo",
    "dst": "wall",
    "starts_at": "2031-01-01T00:00:00.000000Z",
    "ends_at": "2032-01-01T00:00:00.000000Z",
    "jitter": 90,
    "missed": "skip",
    "catchup_window": 3600,
    "overlap": "queue_one",
    "pause_on_failure": True,
    "job": {
        "type": "mail/send",
        "queue": "mail",
        "priority": 9,
        "max_attempts": 1,
        "timeout": None,
        "lease": 2.5,
        "retry": {"policy": "delays", "delays": [1, 0.5]},
        "payload": {"b": 1, "a": [None, "ß"]},
    },
}


async def test_every_field_of_a_definition_is_kept(api: httpx2.AsyncClient) -> None:
    """What was sent comes back, and can be sent again."""
    shown = (await api.post("/v1/schedules", json={"name": "report", **WHOLE})).json()
    assert {name: shown[name] for name in WHOLE} == WHOLE
    assert (await api.put(AT, json={name: shown[name] for name in WHOLE})).json()["version"] == 1


async def test_durations_and_offsets_may_be_written_as_people_do(api: httpx2.AsyncClient) -> None:
    """They come back in seconds and in UTC."""
    shown = (
        await create(
            api,
            starts_at="2030-01-01T02:00:00+02:00",
            jitter="1m30s",
            catchup_window="1h",
            job={"type": "t", "timeout": "5m"},
        )
    ).json()
    assert (shown["starts_at"], shown["jitter"]) == ("2030-01-01T00:00:00.000000Z", 90)
    assert (shown["catchup_window"], shown["job"]["timeout"]) == (3600, 300)


async def test_a_payload_comes_back_digit_for_digit(api: httpx2.AsyncClient, plane: Plane) -> None:
    """As those of jobs do, and the jobs get it."""
    payload = '{"n":9007199254740993,"f":0.1,"s":"😀"}'
    body = f'{{"name":"report","cron":"*/5 * * * *","job":{{"type":"work","payload":{payload}}}}}'
    headers = {"content-type": "application/json"}
    assert f'"payload":{payload}' in (await api.post("/v1/schedules", content=body, headers=headers)).text
    await plane.fire(5 * MINUTE)
    [job] = await plane.all_jobs()
    assert job.payload == payload


async def test_creating_the_same_again_is_no_conflict(api: httpx2.AsyncClient, plane: Plane) -> None:
    """The answer is the one that is there, however the same thing is written; nothing is written twice."""
    first = await create(api)
    again = await create(api, cron=" */5  * * * *", starts_at="2030-01-01T00:00:00Z", reason="again")
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(await events(plane)) == 1


async def test_many_may_create_the_same_at_once(api: httpx2.AsyncClient, plane: Plane) -> None:
    """As the processes of a program do when they start together."""
    answers = await asyncio.gather(*(create(api) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.text for answer in answers}) == len(await events(plane)) == 1


async def test_another_definition_of_the_same_name_is_a_conflict(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """The one that is there stays as it is."""
    await create(api)
    answer = await create(api, cron="0 * * * *")
    assert (answer.status_code, answer.json()["code"]) == (409, "schedule_exists")
    assert answer.json()["detail"].endswith("is defined otherwise (cron): PUT replaces its definition")
    assert (await plane.schedule()).definition.timing.cron == "*/5 * * * *"


async def test_who_catches_up_with_all_lets_jobs_overlap(api: httpx2.AsyncClient) -> None:
    """Unless it says otherwise."""
    assert (await create(api, missed="all")).json()["overlap"] == "allow"
    assert (await create(api, name="b", missed="all", overlap="skip")).json()["overlap"] == "skip"


async def test_a_replacement_is_a_whole_definition(api: httpx2.AsyncClient, plane: Plane) -> None:
    """What is left out has its default again; only the start stays where it is."""
    await create(api, tz="Europe/Oslo", jitter=60, starts_at="2029-01-01T00:00:00Z")
    answer = await api.put(AT, json={**DEFINITION, "cron": "0 12 * * *", "reason": "at noon"})
    shown = answer.json()
    assert (answer.status_code, answer.headers["etag"], shown["version"]) == (200, '"2"', 2)
    assert (shown["tz"], shown["jitter"]) == ("UTC", 0)
    assert (shown["starts_at"], shown["next_fire_at"]) == (
        "2029-01-01T00:00:00.000000Z",
        "2030-01-01T12:00:00.000000Z",
    )
    assert (await events(plane))[1:] == [("schedule_edited", "api:anonymous", "at noon")]


async def test_a_replacement_that_changes_nothing_keeps_the_version(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """It can be repeated."""
    await create(api)
    assert (await api.put(AT, json=DEFINITION)).headers["etag"] == '"1"'
    assert len(await events(plane)) == 1


async def test_a_paused_schedule_has_no_fire_times_until_it_is_resumed(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """Each switch is made once, with its reason."""
    await create(api)
    verdicts = [
        (await api.post(f"{AT}/{word}", json={"reason": "r"})).json()
        for word in ("pause", "pause", "resume", "resume")
    ]
    assert [one["verdict"] for one in verdicts] == ["accepted", "already_applied"] * 2
    assert verdicts[0]["schedule"] == "report"
    assert [name for name, _, reason in await events(plane) if reason == "r"] == [
        "schedule_paused",
        "schedule_resumed",
    ]


async def test_a_pause_is_shown_with_its_reason(api: httpx2.AsyncClient) -> None:
    """It is a change like others: the version grows."""
    await create(api)
    await api.post(f"{AT}/pause", json={"reason": "holidays"})
    shown = (await api.get(AT)).json()
    assert (shown["paused_at"], shown["pause_reason"]) == ("2030-01-01T00:00:00.000000Z", "holidays")
    assert (shown["next_fire_at"], shown["version"]) == (None, 2)
    await api.post(f"{AT}/resume")
    assert (await api.get(AT)).json()["next_fire_at"] == "2030-01-01T00:05:00.000000Z"


async def test_a_deleted_schedule_leaves_its_ledger(api: httpx2.AsyncClient, plane: Plane) -> None:
    """It is gone, and what it did can still be read."""
    await create(api)
    await plane.fire(5 * MINUTE)
    answer = await api.request("DELETE", AT, json={"reason": "of no use"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert (await api.get(AT)).status_code == (await api.delete(AT)).status_code == 404
    [row] = (await api.get(f"{AT}/firings")).json()["items"]
    assert row["outcome"] == "fired"
    assert (await events(plane))[-1] == ("schedule_deleted", "api:anonymous", "of no use")


async def test_a_trigger_fires_at_once(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Paused or not, beside the fire times of the clock."""
    await create(api)
    await api.post(f"{AT}/pause")
    answer = await api.post(f"{AT}/trigger", json={"reason": "for the boss"})
    [job] = await plane.all_jobs()
    assert answer.status_code == 200
    assert {**answer.json(), "origin": answer.json()["origin"].partition(":")[0]} == {
        "schedule": "report",
        "fire_at": "2030-01-01T00:00:00.000000Z",
        "until": None,
        "count": 1,
        "outcome": "fired",
        "reason": "asked",
        "origin": "trigger",
        "job_id": job.job_id,
    }
    assert ("schedule_triggered", "api:anonymous", "for the boss") in await events(plane)


@pytest.mark.parametrize("header", ["Idempotency-Key", "X-Request-Id"])
async def test_one_request_fires_once(api: httpx2.AsyncClient, plane: Plane, header: str) -> None:
    """Repeated with the same key, or with the same request id, it is answered with the first firing, and says so."""
    await create(api)
    answers = [await api.post(f"{AT}/trigger", headers={header: key}) for key in ("one", "one", "two")]
    first, again, other = [answer.json() for answer in answers]
    assert first == again != other
    replayed = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert replayed == [None, "true", None]
    assert len(await plane.all_jobs()) == 2


async def test_a_key_cannot_ask_for_something_else(api: httpx2.AsyncClient, plane: Plane) -> None:
    """As with submits; the reason may be told in other words."""
    await create(api)
    key = {"Idempotency-Key": "k"}
    await api.post(f"{AT}/trigger", headers=key, json={"overlap": "skip"})
    answer = await api.post(f"{AT}/trigger", headers=key, json={"overlap": "queue_one"})
    assert (answer.status_code, answer.json()["code"]) == (422, "key_conflict")
    assert answer.json()["title"] == "The key was used for another request"
    assert answer.json()["detail"].startswith("this key or request id has asked for a firing")
    again = await api.post(f"{AT}/trigger", headers=key, json={"overlap": "skip", "reason": "again"})
    assert (again.status_code, len(await plane.all_jobs())) == (200, 1)


async def test_a_key_counts_before_the_request_id(api: httpx2.AsyncClient, plane: Plane) -> None:
    """A client that repeats a request sends it under another id; bare or quoted it is the same key."""
    await create(api)
    for number, key in enumerate(("k", '"k"')):
        await api.post(f"{AT}/trigger", headers={"Idempotency-Key": key, "X-Request-Id": f"r{number}"})
    assert len(await plane.all_jobs()) == 1


async def test_a_trigger_names_its_own_overlap(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Without a word it does not mind; the schedule's policy counts for the clock's fire times only."""
    await create(api)
    await plane.fire(5 * MINUTE)
    outcomes = [
        (await api.post(f"{AT}/trigger", json={"overlap": overlap})).json()["outcome"]
        for overlap in ("allow", "skip", "queue_one")
    ]
    assert outcomes == ["fired", "skipped", "queued"]
    shown = (await api.get(AT)).json()
    assert shown["waiting"] == "2030-01-01T00:05:00.000000Z"
    assert len(shown["open_jobs"]) == 2
    assert shown["last_job"] == shown["open_jobs"][-1]


@pytest.mark.parametrize("name", ["a/b", "team:mail/daily.report", "/a//b/", "pause", "preview", "a/next/b"])
async def test_a_name_may_have_slashes_and_colons(api: httpx2.AsyncClient, plane: Plane, name: str) -> None:
    """They stay as they are in every path."""
    created = await create(api, name=name)
    at = created.headers["location"]
    assert at == f"/v1/schedules/{name}"
    assert (await api.get(at)).json()["name"] == name
    assert (await api.post(f"{at}/pause")).json() == {"schedule": name, "verdict": "accepted"}
    assert (await api.post(f"{at}/resume")).json()["schedule"] == name
    assert (await api.post(f"{at}/trigger")).json()["schedule"] == name
    assert (await api.get(f"{at}/next")).json()["schedule"] == name
    assert len((await api.get(f"{at}/firings")).json()["items"]) == 1
    assert (await api.put(at, json={**DEFINITION, "cron": "0 * * * *"})).json()["name"] == name
    assert (await api.delete(at)).status_code == 204


@pytest.mark.parametrize("word", ["next", "firings"])
async def test_a_slash_before_a_word_of_the_api_is_escaped(api: httpx2.AsyncClient, word: str) -> None:
    """Such a schedule is not mistaken for what is below another one."""
    await create(api, name="a")
    at = (await create(api, name=f"a/{word}")).headers["location"]
    assert at == f"/v1/schedules/a%2F{word}"
    assert (await api.get(at)).json()["name"] == f"a/{word}"
    assert "name" not in (await api.get(f"/v1/schedules/a/{word}")).json()
    assert (await api.get(f"{at}/{word}")).status_code == 200
    assert (await api.put(at, json=DEFINITION)).json()["name"] == f"a/{word}"
    assert (await api.delete(at)).status_code == 204
    assert (await api.get("/v1/schedules/a")).status_code == 200


@pytest.mark.parametrize("name", ["..", ".", "a/../b", "../next", "a.b/..c"])
async def test_dots_in_a_name_lead_nowhere_else(memory: Memory, name: str) -> None:
    """Clients take a part that is only dots for a step in the path: the location of such a schedule escapes them."""
    async with served(memory.container) as server, server.client() as client:
        created = await create(client, name=name)
        at = created.headers["location"]
        assert (await client.get(at)).json() == created.json()
        assert (await client.post(f"{at}/pause")).json()["schedule"] == name
        assert (await client.delete(at)).status_code == 204


async def test_an_escaped_slash_arrives_through_a_real_server(memory: Memory) -> None:
    """Which knows the path as it was sent."""
    async with served(memory.container) as server, server.client() as client:
        await create(client, name="a")
        at = (await create(client, name="a/next")).headers["location"]
        assert (await client.get(at)).json()["name"] == "a/next"
        assert (await client.get("/v1/schedules/a/next")).json()["schedule"] == "a"


async def test_a_job_fired_through_the_api_can_be_followed(api: httpx2.AsyncClient) -> None:
    """It is a job like any other, and tells which fire time it serves."""
    await create(api)
    job_id = (await api.post(f"{AT}/trigger")).json()["job_id"]
    job = (await api.get(f"/v1/jobs/{job_id}")).json()
    assert (job["type"], job["scheduled_for"]) == ("work", "2030-01-01T00:00:00.000000Z")
