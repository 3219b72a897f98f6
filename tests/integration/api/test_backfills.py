"""Backfills over HTTP: asked for once, watched, stopped."""

from typing import Any

import httpx2
import pytest

from support.schedules import MINUTE, NAME, Plane

AT = f"/v1/schedules/{NAME}/backfill"
LIST = f"/v1/schedules/{NAME}/backfills"
HOUR = {"from": "2029-12-31T23:00:00Z", "to": "2030-01-01T01:00:00+01:00"}


@pytest.fixture(autouse=True)
async def schedule(plane: Plane) -> None:
    """Every five minutes, made at midnight."""
    await plane.create()


async def test_a_backfill_is_asked_for_and_carried_out(api: httpx2.AsyncClient, plane: Plane) -> None:
    """The answer comes at once; the list tells how far it is."""
    answer = await api.post(AT, json={**HOUR, "priority": 1, "overlap": "allow", "reason": "lost data"})
    assert answer.status_code == 202
    begun = answer.json()
    assert begun == {
        "backfill_id": begun["backfill_id"],
        "schedule": NAME,
        "from": "2029-12-31T23:00:00.000000Z",
        "to": "2030-01-01T00:00:00.000000Z",
        "priority": 1,
        "overlap": "allow",
        "fire_times": 13,
        "decided": 0,
        "fired": 0,
        "next_at": "2029-12-31T23:00:00.000000Z",
        "requested_at": "2030-01-01T00:00:00.000000Z",
        "actor": "api:anonymous",
        "request_id": answer.headers["x-request-id"],
        "reason": "lost data",
        "ended_at": None,
        "ending": None,
    }
    assert (await api.get(LIST)).json() == {"items": [begun]}
    while (await plane.backfills.advance(10)).full:
        pass
    [over] = (await api.get(LIST, params={"limit": 1})).json()["items"]
    assert (over["decided"], over["fired"], over["ending"]) == (13, 13, "done")
    ledger = (await api.get(f"/v1/schedules/{NAME}/firings")).json()["items"]
    assert {(row["outcome"], row["origin"]) for row in ledger} == {("backfilled", begun["backfill_id"])}


async def test_answers_have_exactly_the_described_fields(api: httpx2.AsyncClient) -> None:
    """Backfills carry what the document says, no more and no less."""
    schemas = (await api.get("/openapi.json")).json()["components"]["schemas"]
    begun = (await api.post(AT, json=HOUR)).json()
    found = {
        "BackfillShown": begun,
        "BackfillList": (await api.get(LIST)).json(),
        "BackfillSize": (await api.post(AT, json={**HOUR, "dry_run": True})).json(),
        "BackfillStopped": (await api.post(f"/v1/backfills/{begun['backfill_id']}/stop")).json(),
    }
    described = {name: set(schemas[name]["properties"]) for name in found}
    assert {name: set(answer) for name, answer in found.items()} == described


async def test_the_same_key_asks_once(api: httpx2.AsyncClient) -> None:
    """Another backfill under the same key is refused; so is one under the same request id, where there is no key."""
    first = await api.post(AT, json=HOUR, headers={"Idempotency-Key": "march"})
    again = await api.post(AT, json=HOUR, headers={"Idempotency-Key": "march"})
    assert again.json() == first.json()
    assert [one.headers.get("Idempotency-Replayed") for one in (first, again)] == [None, "true"]
    other = await api.post(AT, json={**HOUR, "priority": 2}, headers={"Idempotency-Key": "march"})
    assert (other.status_code, other.json()["code"]) == (422, "key_conflict")
    assert other.json()["detail"].startswith("this key or request id has asked for another backfill")
    by_id = [await api.post(AT, json=HOUR, headers={"X-Request-Id": "april"}) for _ in range(2)]
    assert by_id[0].json() == by_id[1].json() != first.json()
    assert len((await api.get(LIST)).json()["items"]) == 2


async def test_a_dry_run_counts(api: httpx2.AsyncClient) -> None:
    """And changes nothing."""
    answer = await api.post(AT, json={**HOUR, "dry_run": True})
    assert (answer.status_code, answer.json()) == (200, {"schedule": NAME, "fire_times": 13})
    assert (await api.get(LIST)).json() == {"items": []}


async def test_a_backfill_is_stopped(api: httpx2.AsyncClient) -> None:
    """Once; one that there is not is not found."""
    begun = (await api.post(AT, json=HOUR)).json()["backfill_id"]
    for verdict in ("accepted", "already_applied"):
        answer = await api.post(f"/v1/backfills/{begun}/stop", json={"reason": "wrong range"})
        assert (answer.status_code, answer.json()) == (200, {"backfill_id": begun, "verdict": verdict})
    [over] = (await api.get(LIST)).json()["items"]
    assert over["ending"] == "stopped"
    unknown = await api.post("/v1/backfills/backfill:none/stop")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"to": "2030-01-01T00:00:00.000001Z"}, "/to"),
        ({"from": "2030-01-01T00:00:00.000001Z"}, "/to"),
        ({"from": "2029-01-01T00:00:00Z"}, "/to"),
        ({"from": "2030-01-01T00:00:00"}, "/from"),
        ({"priority": 10}, "/priority"),
        ({"overlap": "cancel_running"}, "/overlap"),
        ({"dry_run": 1}, "/dry_run"),
        ({"until": "now"}, "/until"),
    ],
)
async def test_what_cannot_be_backfilled_is_refused(
    api: httpx2.AsyncClient, fields: dict[str, Any], pointer: str
) -> None:
    """With a pointer to the field, counted or not."""
    for more in ({}, {"dry_run": True}):
        answer = await api.post(AT, json={**HOUR, **more, **fields})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


async def test_what_is_not_there_is_not_found(api: httpx2.AsyncClient) -> None:
    """No schedule of that name."""
    for answer in (
        await api.post("/v1/schedules/none/backfill", json=HOUR),
        await api.get("/v1/schedules/none/backfills"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_names_may_end_like_the_list(api: httpx2.AsyncClient, plane: Plane) -> None:
    """A schedule called so is shown where the slash is written out."""
    await plane.create("a/backfills")
    answer = await api.get("/v1/schedules/a%2Fbackfills")
    assert (answer.status_code, answer.json()["name"]) == (200, "a/backfills")


async def test_the_list_outlives_its_schedule(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Deleted in the middle, it says so."""
    await api.post(AT, json=HOUR)
    plane.clock.advance(MINUTE)
    assert (await api.delete(f"/v1/schedules/{NAME}")).status_code == 204
    [over] = (await api.get(LIST)).json()["items"]
    assert (over["ending"], over["ended_at"]) == ("deleted", "2030-01-01T00:01:00.000000Z")
