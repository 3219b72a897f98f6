"""If-Match on schedules: nobody overwrites what somebody else has changed in between."""

import asyncio
from typing import Any

import httpx2
import pytest

from support.schedules import Plane

DEFINITION: dict[str, Any] = {"cron": "0 * * * *", "job": {"type": "work"}}
AT = "/v1/schedules/report"


@pytest.fixture
async def created(plane: Plane) -> None:
    """There is a schedule of version 2."""
    await plane.create()
    from fencepost.domain.commands import Origin
    from support.schedules import definition

    await plane.schedules.edit("report", definition(cron="30 * * * *"), Origin("user:test", "edit"))


@pytest.mark.usefixtures("created")
@pytest.mark.parametrize("tag", ['"1"', '"3"', '"999999999"', 'W/"2"', '"abc"', '""', '"02"', '"9999999999"'])
async def test_another_version_is_refused(api: httpx2.AsyncClient, plane: Plane, tag: str) -> None:
    """Weak tags and tags of others never are the current version; nothing is changed."""
    before = await plane.schedule()
    for answer in (
        await api.put(AT, json=DEFINITION, headers={"If-Match": tag}),
        await api.delete(AT, headers={"If-Match": tag}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (412, "version_conflict")
    assert await plane.schedule() == before


@pytest.mark.usefixtures("created")
async def test_the_current_version_is_changed(api: httpx2.AsyncClient) -> None:
    """The ETag that was given is the one to send; each change gives a new one, a star takes any."""
    tag = (await api.get(AT)).headers["etag"]
    changed = await api.put(AT, json=DEFINITION, headers={"If-Match": tag})
    assert (changed.status_code, tag, changed.headers["etag"]) == (200, '"2"', '"3"')
    assert (await api.delete(AT, headers={"If-Match": tag})).status_code == 412
    assert (await api.put(AT, json={**DEFINITION, "jitter": 1}, headers={"If-Match": "*"})).is_success
    assert (await api.delete(AT, headers={"If-Match": '"4"'})).status_code == 204


@pytest.mark.usefixtures("created")
async def test_a_change_sent_again_is_answered_as_done(api: httpx2.AsyncClient) -> None:
    """Its answer may have been lost; once somebody else has changed it, the tag is that of another version."""
    first, again = [await api.put(AT, json=DEFINITION, headers={"If-Match": '"2"'}) for _ in range(2)]
    assert (again.status_code, again.headers["etag"], again.json()) == (200, '"3"', first.json())
    await api.put(AT, json={**DEFINITION, "jitter": 1})
    assert (await api.put(AT, json=DEFINITION, headers={"If-Match": '"2"'})).status_code == 412


@pytest.mark.usefixtures("created")
async def test_of_two_who_change_the_same_version_one_wins(api: httpx2.AsyncClient) -> None:
    """The other hears of it."""
    changes = [{**DEFINITION, "jitter": seconds} for seconds in (1, 2, 3, 4)]
    answers = await asyncio.gather(
        *(api.put(AT, json=change, headers={"If-Match": '"2"'}) for change in changes)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412]
    assert (await api.get(AT)).json()["version"] == 3


@pytest.mark.usefixtures("created")
@pytest.mark.parametrize("tag", ["", "2", '"2', '"1", "2"', "*, *", '"a b"', 'w/"2"'])
async def test_a_malformed_precondition_is_refused(api: httpx2.AsyncClient, plane: Plane, tag: str) -> None:
    """It is not taken for none."""
    answer = await api.put(AT, json=DEFINITION, headers={"If-Match": tag})
    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (422, "If-Match")
    assert (await plane.schedule()).version == 2


@pytest.mark.usefixtures("created")
async def test_a_precondition_is_given_once(api: httpx2.AsyncClient) -> None:
    """Two lines are two opinions."""
    answer = await api.delete(AT, headers=[("If-Match", '"2"'), ("If-Match", '"3"')])
    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (422, "If-Match")


@pytest.mark.usefixtures("created")
@pytest.mark.parametrize(
    ("method", "path", "header"),
    [
        *[("POST", f"{AT}/{word}", "If-Match") for word in ("pause", "resume", "trigger")],
        *[("POST", f"{AT}/{word}", "Idempotency-Key") for word in ("pause", "resume")],
        *[("POST", "/v1/schedules", name) for name in ("If-Match", "If-None-Match", "Idempotency-Key")],
        *[(method, AT, "If-Unmodified-Since") for method in ("PUT", "DELETE")],
        *[(method, AT, "If-None-Match") for method in ("PUT", "DELETE")],
        *[(method, AT, "Idempotency-Key") for method in ("PUT", "DELETE")],
    ],
)
async def test_a_promise_that_could_not_be_kept_is_not_made(
    api: httpx2.AsyncClient, plane: Plane, method: str, path: str, header: str
) -> None:
    """A header that is not honoured is refused, and nothing is changed."""
    answer = await api.request(method, path, json={}, headers={header: '"2"'})
    assert (answer.status_code, answer.json()["code"]) == (501, "unsupported_header")
    assert (await plane.schedule()).version == 2


@pytest.mark.usefixtures("created")
async def test_reading_is_never_cut_short_by_the_tag(api: httpx2.AsyncClient) -> None:
    """Where a schedule stands moves with each firing, under the same version: there is no 304."""
    assert (await api.get(AT, headers={"If-None-Match": '"2"'})).status_code == 200
