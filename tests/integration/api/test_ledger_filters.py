"""A part of a ledger over HTTP."""

import httpx2
import pytest

from fencepost.domain.schedule import Overlap
from support.schedules import MINUTE, NAME, Plane, asked

AT = "/v1/schedules/report/firings"


async def eventful(plane: Plane) -> str:
    """At 5 fired, at 10 skipped beside it, then triggered; returns the origin of that."""
    await plane.create()
    for _ in range(2):
        await plane.fire(5 * MINUTE)
    return (await plane.firings.trigger(NAME, Overlap.ALLOW, asked("one"))).firing.origin


async def test_rows_are_chosen_by_outcome_reason_and_origin(api: httpx2.AsyncClient, plane: Plane) -> None:
    """All given conditions hold; words may be repeated."""
    origin = await eventful(plane)
    for query, outcomes in {
        "": ["skipped", "fired", "fired"],
        "?outcome=fired": ["fired", "fired"],
        "?outcome=fired&outcome=skipped": ["skipped", "fired", "fired"],
        "?reason=overlap": ["skipped"],
        "?reason=asked&reason=overlap": ["skipped", "fired"],
        "?outcome=fired&origin=cron": ["fired"],
        f"?origin={origin}": ["fired"],
        "?outcome=backfilled": [],
    }.items():
        page = (await api.get(AT + query)).json()
        assert [row["outcome"] for row in page["items"]] == outcomes, query


async def test_a_cursor_belongs_to_its_filter(api: httpx2.AsyncClient, plane: Plane) -> None:
    """The next page of one is not that of another."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    first = (await api.get(f"{AT}?outcome=fired&outcome=queued&limit=2")).json()
    rest = (await api.get(f"{AT}?outcome=queued&outcome=fired&cursor={first['next']}")).json()
    assert [row["job_id"] for row in (*first["items"], *rest["items"])] == [3, 2, 1]
    for other in ("", "&outcome=fired", "&outcome=fired&outcome=queued&reason=due", "&origin=cron"):
        answer = await api.get(f"{AT}?cursor={first['next']}{other}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor"), other


@pytest.mark.parametrize(
    ("query", "name", "rule"),
    [
        ("outcome=done", "outcome", "must be one of fired, queued, coalesced, skipped, backfilled"),
        ("outcome=fired&outcome=", "outcome", "must be one of"),
        ("reason=why", "reason", "must be one of due, missed, overlap, window, edited, asked"),
        ("origin=", "origin", "must not be empty or blank"),
        ("origin=cron&origin=cron", "origin", "must be given once"),
        (f"origin={'x' * 256}", "origin", "must have at most 255 characters"),
        ("result=fired", "result", "is not one of outcome, reason, origin, limit, cursor"),
    ],
)
async def test_a_bad_condition_is_named(
    api: httpx2.AsyncClient, plane: Plane, query: str, name: str, rule: str
) -> None:
    """With its rule: a misspelt filter must not widen a list."""
    await plane.create()
    answer = await api.get(f"{AT}?{query}")
    [error] = answer.json()["errors"]
    assert (answer.status_code, error["parameter"]) == (422, name)
    assert error["rule"].startswith(rule)


async def test_a_ledger_without_such_rows_is_not_one_that_never_was(
    api: httpx2.AsyncClient, plane: Plane
) -> None:
    """Though its schedule was deleted."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.schedules.delete(NAME, asked("gone"))
    assert (await api.get(f"{AT}?outcome=skipped")).json() == {"items": [], "next": None}
    assert (await api.get("/v1/schedules/nobody/firings?outcome=skipped")).status_code == 404
