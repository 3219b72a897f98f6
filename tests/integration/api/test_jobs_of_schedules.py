"""From a schedule to its jobs over HTTP."""

import httpx2

from fencepost.domain.schedule import Overlap
from support.schedules import MINUTE, Plane


async def test_jobs_are_listed_by_their_schedule(api: httpx2.AsyncClient, plane: Plane) -> None:
    """Beside other conditions, and after the schedule was deleted."""
    for name in ("reports/nightly", "other"):
        await plane.create(name, overlap=Overlap.ALLOW)
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    ledger = (await api.get("/v1/schedules/reports/nightly/firings")).json()["items"]
    await api.post(f"/v1/jobs/{ledger[0]['job_id']}/cancel")
    await api.delete("/v1/schedules/reports/nightly")
    for query, rows in {
        "schedule=reports/nightly": ledger,
        "schedule=reports%2Fnightly&state=cancelled": ledger[:1],
        "schedule=reports/nightly&state=pending&queue=default": ledger[1:],
        "schedule=reports/nightly&state=running": [],
    }.items():
        page = (await api.get(f"/v1/jobs?{query}")).json()
        assert [job["job_id"] for job in page["items"]] == [row["job_id"] for row in rows], query


async def test_a_schedule_that_nobody_knows_is_not_found(api: httpx2.AsyncClient, plane: Plane) -> None:
    """One that has not fired yet has no jobs; a name that cannot be one breaks a rule."""
    await plane.create("idle")
    assert (await api.get("/v1/jobs?schedule=idle")).json()["items"] == []
    nosuch = await api.get("/v1/jobs?schedule=nosuch")
    assert (nosuch.status_code, nosuch.json()["detail"]) == (404, "there is no schedule nosuch")
    wrong = await api.get("/v1/jobs?schedule=two%20words")
    assert (wrong.status_code, wrong.json()["errors"][0]["parameter"]) == (422, "schedule")


async def test_a_cursor_belongs_to_its_schedule(api: httpx2.AsyncClient, plane: Plane) -> None:
    """The next page of one is not that of another."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    first = (await api.get("/v1/jobs?schedule=report&limit=2")).json()
    rest = (await api.get(f"/v1/jobs?schedule=report&cursor={first['next']}")).json()
    assert [job["job_id"] for job in (*first["items"], *rest["items"])] == [3, 2, 1]
    for other in ("", "&schedule=other"):
        answer = await api.get(f"/v1/jobs?cursor={first['next']}{other}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")
