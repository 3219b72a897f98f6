"""Schedules over HTTP: lists, ledgers and fire times."""

import base64
from datetime import timedelta
from typing import Any

import httpx2
import msgspec
import pytest

from fencepost.domain.facts import digest
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.zones import TZ_VERSION
from fencepost.entrypoints.api.cursors import cursor
from support.api import Memory
from support.rig import USER
from support.schedules import MINUTE, NAME, Plane, asked, definition

AT = "/v1/schedules/report"


async def pages(api: httpx2.AsyncClient, path: str, limit: int) -> list[list[dict[str, Any]]]:
    """Every page of a list."""
    found, following = [], ""
    while True:
        page = (await api.get(f"{path}?limit={limit}{following}")).json()
        found.append(page["items"])
        if page["next"] is None:
            return found
        following = f"&cursor={page['next']}"


@pytest.mark.parametrize(("limit", "sizes"), [(2, [2, 2, 1]), (5, [5]), (500, [5])])
async def test_schedules_are_listed_by_name(
    api: httpx2.AsyncClient, plane: Plane, limit: int, sizes: list[int]
) -> None:
    """Page by page, each once, as they are shown alone but for the payload and the values of a drift."""
    for name in ("b", "a/z", "a", "c:1", "d"):
        await plane.create(name)
    found = await pages(api, "/v1/schedules", limit)
    names = [one["name"] for page in found for one in page]
    assert [len(page) for page in found] == sizes
    assert names == sorted(names) or set(names) == {"a", "a/z", "b", "c:1", "d"}
    shown = (await api.get(f"/v1/schedules/{names[0]}")).json()
    assert (shown["job"].pop("payload"), shown.pop("drift")) == ({"a": 1}, [])
    assert found[0][0] == shown


async def test_a_list_may_be_empty(api: httpx2.AsyncClient) -> None:
    """Nothing is a list, too."""
    assert (await api.get("/v1/schedules")).json() == {"items": [], "unreadable": [], "next": None}


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
async def test_the_ledger_is_shown_newest_first(api: httpx2.AsyncClient, plane: Plane, limit: int) -> None:
    """Each decision once, those of one instant included, wherever a page ends."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(2):
        await plane.fire(5 * MINUTE)
    for request in ("one", "two", "three"):
        await plane.firings.trigger(NAME, Overlap.ALLOW, asked(request))
    await plane.fire(5 * MINUTE)
    rows = [row for page in await pages(api, f"{AT}/firings", limit) for row in page]
    assert [row["fire_at"][11:16] for row in rows] == ["00:15", *["00:10"] * 4, "00:05"]
    assert len({(row["fire_at"], row["origin"]) for row in rows}) == 6


async def test_skips_that_follow_each_other_are_one_row(api: httpx2.AsyncClient, plane: Plane) -> None:
    """With the last of its fire times, and how many there are."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(timedelta(minutes=21))
    assert (await api.get(f"{AT}/firings")).json() == {
        "items": [
            {
                "fire_at": "2030-01-01T00:05:00.000000Z",
                "until": "2030-01-01T00:20:00.000000Z",
                "count": 4,
                "outcome": "skipped",
                "reason": "missed",
                "origin": "cron",
                "job_id": None,
                "decided_at": "2030-01-01T00:21:00.000000Z",
                "version": 1,
                "tz_version": TZ_VERSION,
            }
        ],
        "next": None,
    }


async def test_drift_from_the_code_is_told_with_both_values(api: httpx2.AsyncClient, plane: Plane) -> None:
    """In full for one schedule; a list names the fields."""
    said = definition(starts_at=None, payload='{"a":1}')
    await plane.schedules.declare(NAME, said, USER, app="crew:app")
    await plane.schedules.edit(NAME, definition(jitter=MINUTE, payload='{"a":2}'), USER)
    shown = (await api.get(AT)).json()
    assert (shown["declared_by"], sorted(shown["drifted"])) == ("crew:app", ["jitter", "payload"])
    found = {one["field"]: (one["schedule"], one["code"]) for one in shown["drift"]}
    assert found == {"jitter": (60, 0), "payload": (digest('{"a":2}'), digest('{"a":1}'))}
    [listed] = (await api.get("/v1/schedules")).json()["items"]
    assert (listed["drifted"], "drift" in listed) == (shown["drifted"], False)


async def test_a_schedule_that_never_fired_has_an_empty_ledger(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Which is not the same as none."""
    await plane.create()
    assert (await api.get(f"{AT}/firings")).json() == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/v1/schedules", cursor("a", ["firings", "report", [], [], None])),
        ("/v1/schedules", cursor(5, ["schedules"])),
        ("/v1/schedules", cursor("a b", ["schedules"])),
        ("/v1/schedules", cursor("", ["schedules"])),
        ("/v1/schedules", cursor(None, ["schedules"])),
        ("/v1/schedules", base64.urlsafe_b64encode(msgspec.json.encode(["a"])).decode()),
        (f"{AT}/firings", cursor("a", ["firings", "report", [], [], None])),
        (f"{AT}/firings", cursor("2030-01-01T00:00:00Z", ["firings", "other", [], [], None])),
        (f"{AT}/firings", cursor("2030-01-01T00:00:00", ["firings", "report", [], [], None])),
        (f"{AT}/firings", cursor("0001-01-01T00:00:00Z", ["firings", "report", [], [], None])),
        (f"{AT}/firings", cursor(1893456000, ["firings", "report", [], [], None])),
        (f"{AT}/firings", "AAAA"),
    ],
)
async def test_a_cursor_belongs_to_its_list(
    api: httpx2.AsyncClient, plane: Plane, path: str, given: str
) -> None:
    """One of another list, or one that was made elsewhere, is refused."""
    await plane.create()
    answer = await api.get(path, params={"cursor": given})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


async def test_the_next_fire_times_are_told_in_utc_and_by_the_zones_clock(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """With the day on which the clock is turned, and what the expression means."""
    await plane.create(cron="30 2 * * *", tz="Europe/Oslo")
    plane.clock.advance(timedelta(days=88))
    await plane.fire()
    answer = (await api.get(f"{AT}/next?number=3")).json()
    assert answer["words"].startswith("At 02:30 every day, Europe/Oslo")
    assert [(time["fire_at"], time["local"]) for time in answer["times"]] == [
        ("2030-03-30T01:30:00.000000Z", "2030-03-30T02:30:00+01:00"),
        ("2030-03-31T01:00:00.000000Z", "2030-03-31T03:00:00+02:00"),
        ("2030-04-01T00:30:00.000000Z", "2030-04-01T02:30:00+02:00"),
    ]
    assert [time["due_at"] for time in answer["times"]] == [time["fire_at"] for time in answer["times"]]


async def test_fire_times_that_wait_for_a_decision_come_first(api: httpx2.AsyncClient, plane: Plane) -> None:
    """While no scheduler runs they are still to come; five are shown unless it is said how many."""
    await plane.create()
    plane.clock.advance(timedelta(hours=6))
    times = (await api.get(f"{AT}/next")).json()["times"]
    assert [time["fire_at"][11:16] for time in times] == ["00:05", "00:10", "00:15", "00:20", "00:25"]


async def test_a_paused_schedule_shows_when_it_would_fire(api: httpx2.AsyncClient, plane: Plane) -> None:
    """If it were resumed now; that it is paused is said beside it."""
    await plane.create()
    await api.post(f"{AT}/pause")
    plane.clock.advance(timedelta(hours=6))
    answer = (await api.get(f"{AT}/next?number=1")).json()
    assert answer["state"] == "paused"
    assert [time["fire_at"][11:16] for time in answer["times"]] == ["06:05"]


async def test_jobs_are_due_later_by_the_jitter(api: httpx2.AsyncClient, plane: Plane) -> None:
    """What is foretold comes true."""
    await plane.create(jitter=MINUTE)
    [time] = (await api.get(f"{AT}/next?number=1")).json()["times"]
    await plane.fire(5 * MINUTE)
    [job] = (await api.get("/v1/jobs")).json()["items"]
    assert time["fire_at"] < time["due_at"] == job["run_at"]


async def test_a_schedule_at_its_end_has_no_more_fire_times(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Its ledger has them all."""
    await plane.create(ends_at=plane.clock.now + 12 * MINUTE)
    assert len((await api.get(f"{AT}/next")).json()["times"]) == 2
    await plane.fire(10 * MINUTE)
    assert (await api.get(f"{AT}/next")).json()["times"] == []
    shown = (await api.get(AT)).json()
    assert (shown["state"], shown["next_fire_at"]) == ("over", None)


async def preview(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    """Look at an expression."""
    answer = await client.post("/v1/schedules/preview", json=fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_an_expression_is_looked_at_without_a_database(client: httpx2.AsyncClient) -> None:
    """As it would be stored, in words, with its fire times."""
    shown = await preview(
        client, cron=" 30 2 * * *", tz="Europe/Oslo", **{"from": "2030-10-26T12:00:00Z"}, number=2, dst="wall"
    )
    assert shown["cron"] == "30 2 * * *"
    assert shown["words"].startswith("At 02:30 every day, Europe/Oslo; a time that the clock skips")
    assert shown["times"] == [
        {"fire_at": "2030-10-27T00:30:00.000000Z", "local": "2030-10-27T02:30:00+02:00"},
        {"fire_at": "2030-10-27T01:30:00.000000Z", "local": "2030-10-27T02:30:00+01:00"},
    ]
    assert shown["tz_version"][:2] == "20"


async def test_a_preview_begins_now_unless_it_says_when(client: httpx2.AsyncClient) -> None:
    """An interval is counted from there."""
    assert len((await preview(client, cron="* * * * *"))["times"]) == 5
    shown = await preview(client, cron="every 90m", **{"from": "2030-01-01T00:00:00Z"}, number=2)
    assert [time["fire_at"][11:16] for time in shown["times"]] == ["01:30", "03:00"]


@pytest.mark.parametrize("tz", ["UTC", "Asia/Tokyo", "Pacific/Kiritimati", "America/Los_Angeles"])
@pytest.mark.parametrize(
    "cron", ["* * * * *", "every 1s", "every 366d", "0 0 29 2 *", "@yearly", "*/7 * L * *"]
)
@pytest.mark.parametrize(
    "after",
    ["9999-12-31T23:59:30Z", "9997-01-01T00:00:00Z", "9999-12-31T10:00:00+14:00", "1970-01-01T00:00:00Z"],
)
async def test_the_ends_of_the_calendar_are_no_trouble(
    client: httpx2.AsyncClient, after: str, cron: str, tz: str
) -> None:
    """B048: what lies beyond them is left out."""
    shown = await preview(client, cron=cron, tz=tz, **{"from": after}, number=1000)
    assert all(time["fire_at"] <= "9999-12-31T23:59:59.999999Z" for time in shown["times"])


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"from": "0001-01-01T00:00:00Z"}, "/from"),
        ({"from": "9999-12-31T23:59:59-01:00"}, "/from"),
        ({"from": "2030-01-01T00:00:00"}, "/from"),
        ({"from": None}, "/from"),
        ({"number": 0}, "/number"),
        ({"number": 1001}, "/number"),
        ({"number": 10**30}, "/number"),
        ({"number": "5"}, "/number"),
        ({"number": True}, "/number"),
        ({"tz": "Mars/Olympus"}, "/tz"),
        ({"dst": "both"}, "/dst"),
        ({"job": {"type": "t"}}, "/job"),
        ({"cron": "61 * * * *"}, "/cron"),
    ],
)
async def test_what_cannot_be_looked_at_is_named(
    client: httpx2.AsyncClient, fields: dict[str, Any], pointer: str
) -> None:
    """B048: with a pointer, as in a schedule."""
    answer = await client.post("/v1/schedules/preview", json={"cron": "* * * * *", **fields})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


async def test_answers_have_exactly_the_described_fields(
    api: httpx2.AsyncClient, plane: Plane, client: httpx2.AsyncClient, memory: Memory
) -> None:
    """Schedules, ledgers and fire times carry what the document says, no more and no less."""
    schemas = (await api.get("/openapi.json")).json()["components"]["schemas"]
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.fire(10 * MINUTE)
    await plane.fire(5 * MINUTE)
    listed, ledger = (await api.get("/v1/schedules")).json(), (await api.get(f"{AT}/firings")).json()
    upcoming, looked_at = (await api.get(f"{AT}/next")).json(), await preview(api, cron="* * * * *")
    shown = (await api.get(AT)).json()
    found = {
        "Schedule": shown,
        "JobTemplate": shown["job"],
        "SchedulePage": listed,
        "ScheduleInList": listed["items"][0],
        "JobTemplateInList": listed["items"][0]["job"],
        "FiringPage": ledger,
        "FiringInLedger": ledger["items"][0],
        "Upcoming": upcoming,
        "DueFireTime": upcoming["times"][0],
        "Preview": looked_at,
        "FireTime": looked_at["times"][0],
        "Triggered": (await api.post(f"{AT}/trigger")).json(),
        "ScheduleSwitched": (await api.post(f"{AT}/pause")).json(),
    }
    described = {name: set(schemas[name]["properties"]) for name in found}
    assert {name: set(answer) for name, answer in found.items()} == described
