"""Schedules whose stored definition nobody can read, over HTTP: no fault of the server, and none of the others'."""

from typing import Any

import httpx2
import psycopg
import pytest

from support.rig import USER
from support.schedules import Plane, definition

pytestmark = pytest.mark.unproven("it forges rows of schedules")

AT = "/v1/schedules/broken"
FAULT = "Object missing required field `cron`"
WHOLE = {"cron": "*/10 * * * *", "job": {"type": "work"}}
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "", {}),
    ("GET", "/next", {}),
    ("POST", "/resume", {}),
    ("POST", "/trigger", {}),
    ("POST", "/backfill", {"from": "2029-01-01T00:00:00Z", "to": "2029-01-01T01:00:00Z"}),
)


@pytest.fixture(autouse=True)
async def broken(plane: Plane) -> None:
    """There are two schedules, and somebody has written into the row of one."""
    for name in ("broken", "sound"):
        await plane.schedules.create(name, definition(), USER)
    await forged(plane, "'{}'")


async def forged(plane: Plane, value: str) -> None:
    """Somebody writes into the row."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        changed = f"UPDATE fencepost.schedules SET definition = {value} WHERE name = 'broken'"
        await connection.execute(changed.encode())


async def test_a_list_names_it_apart_from_the_others(api: httpx2.AsyncClient) -> None:
    """With what is wrong; clients that know only whole schedules find only these."""
    page = (await api.get("/v1/schedules")).json()
    assert [one["name"] for one in page["items"]] == ["sound"]
    assert page["unreadable"] == [
        {
            "name": "broken",
            "version": 1,
            "fault": FAULT,
            "next_fire_at": "2030-01-01T00:05:00.000000Z",
            "paused_at": None,
        }
    ]


async def test_answers_about_it_have_exactly_the_described_fields(api: httpx2.AsyncClient) -> None:
    """No more and no less."""
    schemas = (await api.get("/openapi.json")).json()["components"]["schemas"]
    [one] = (await api.get("/v1/schedules")).json()["unreadable"]
    assert set(one) == set(schemas["UnreadableSchedule"]["properties"])


@pytest.mark.parametrize(("method", "below", "body"), CALLS)
async def test_what_needs_its_definition_is_a_conflict(
    api: httpx2.AsyncClient, method: str, below: str, body: dict[str, Any]
) -> None:
    """The detail says what is wrong, and what can be done."""
    answer = await api.request(method, AT + below, json=body or None)
    assert (answer.status_code, answer.json()["code"]) == (409, "schedule_unreadable")
    assert FAULT in answer.json()["detail"]


async def test_it_can_be_paused_replaced_and_deleted(api: httpx2.AsyncClient, plane: Plane) -> None:
    """A replacement is a whole definition; the version in the list counts for If-Match."""
    assert (await api.post(f"{AT}/pause")).json()["verdict"] == "accepted"
    replaced = await api.put(AT, json=WHOLE, headers={"If-Match": '"2"'})
    assert (replaced.status_code, replaced.json()["cron"]) == (200, WHOLE["cron"])
    await forged(plane, "'{}'")
    assert (await api.delete(AT)).status_code == 204
    assert (await api.get("/v1/schedules")).json()["unreadable"] == []


async def test_a_schedule_whose_zone_is_gone_is_listed_without_words(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """Nobody knows its fire times, but all else can be read."""
    await plane.schedules.edit("broken", definition(), USER)
    await forged(plane, """definition || '{"tz": "Mars/Olympus"}'""")
    [broken, sound] = (await api.get("/v1/schedules")).json()["items"]
    assert (broken["tz"], broken["words"]) == ("Mars/Olympus", None)
    assert sound["words"] is not None
