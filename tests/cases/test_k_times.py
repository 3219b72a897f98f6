"""B174, B176, B178, B179, B180: moments and durations at every surface, on PostgreSQL."""

import json
from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from typing import Any

import httpx2
import pytest

from fencepost import Context, Fencepost, InvalidInput
from fencepost.entrypoints.cli.inputs import moment
from fencepost.entrypoints.container import closed
from support.api import in_process, postgres_container
from support.live import LiveWorker, finished, rows

JSON = {"content-type": "application/json"}
COUNT = "SELECT count(*) FROM fencepost.jobs"
NO_OFFSET = ("2025-01-01T00:00", "2025-01-01", "2025-W01-1T00:00:00", "2025-01-01T00:00:00")
EXOTIC = (
    *("2025-W01-1T00:00:00Z", "20250101T000000Z", "2025-01-01 00:00:00+00", "1735689600"),
    *(" 2025-01-01T00:00:00Z", "2025-01-01T00:00:00Z "),
)
WORDS = ("infinity", "-infinity", "now", "today", "epoch", "NaN", "null", "")
NO_SUCH = ("2025-06-30T23:59:60Z", "2025-01-01T24:00:00Z", "36869-01-01T00:00:00Z", "1969-12-31T23:59:59Z")
NOT_TEXT: tuple[object, ...] = (1735689600, 1.5, None, True, [], {})
TAKEN = {
    "2025-01-01T00:00:00.123456789Z": "2025-01-01T00:00:00.123456Z",
    "2025-01-01t00:00:00z": "2025-01-01T00:00:00.000000Z",
    "2025-01-01T00:00:00+00:00": "2025-01-01T00:00:00.000000Z",
    "9999-12-31T23:59:59.999999999Z": "9999-12-31T23:59:59.999999Z",
}
WRONG_DURATIONS = (
    "-5",
    "1e308",
    str(2**63),
    '"5"',
    "true",
    "NaN",
    "Infinity",
    "-Infinity",
    '"-5s"',
    '"NaN"',
    "[]",
)
FIELDS = (
    *('"delay":{}', '"timeout":{}', '"lease":{}', '"unique":{{"period":{}}}'),
    *('"retry":{{"policy":"constant","delay":{}}}', '"retry":{{"policy":"exponential","base":{}}}'),
    *('"retry":{{"policy":"exponential","cap":{}}}', '"retry":{{"policy":"delays","delays":[1,{}]}}'),
)
FILTERS = (("/v1/jobs", "submitted_from"), ("/v1/jobs", "submitted_before"), ("/v1/events", "since"))
ZEROES = {FIELDS[0], FIELDS[7]}
"""Where 0 makes sense: due now, retried at once."""


@pytest.fixture
async def api(emptied: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API over an empty database."""
    container = postgres_container(emptied)
    async with in_process(container) as client:
        yield client
    await closed(container)


async def test_what_is_no_moment_is_refused_everywhere(emptied: str, api: httpx2.AsyncClient) -> None:
    """B174, B176, B180: naive, exotic, symbolic and impossible times are 422 in submit, batch, edit and filters."""
    job_id = (await api.post("/v1/jobs", json={"type": "t", "delay": 3600})).json()["job_id"]
    before = (await api.get(f"/v1/jobs/{job_id}")).text
    for given in (*NO_OFFSET, *EXOTIC, *WORDS, *NO_SUCH, *NOT_TEXT):
        job = {"type": "t", "run_at": given}
        answers = [
            await api.post("/v1/jobs", json=job),
            await api.post("/v1/jobs/batch", json={"jobs": [job]}),
            await api.patch(f"/v1/jobs/{job_id}", json={"run_at": given}),
        ]
        if isinstance(given, str):
            answers += [await api.get(path, params={name: given}) for path, name in FILTERS]
        assert [answer.status_code for answer in answers] == [422] * len(answers), given
    assert (await api.get(f"/v1/jobs/{job_id}")).text == before
    assert await rows(emptied, COUNT) == [(1,)]


@pytest.mark.parametrize("given", [*NO_OFFSET, *EXOTIC, *WORDS, *NO_SUCH])
def test_the_command_line_refuses_the_same(given: str) -> None:
    """B174, B176, B180: one rule for both surfaces."""
    with pytest.raises(InvalidInput, match="run_at"):
        moment("run_at", given)


@pytest.mark.parametrize(
    "given", [datetime.fromisoformat(NO_OFFSET[0]), date.max, "2025-01-01T00:00:00Z", 1735689600], ids=str
)
def test_the_library_takes_a_datetime_with_an_offset_and_nothing_else(given: Any) -> None:
    """B174, B176: naive moments, dates, texts and numbers name the option."""
    app = Fencepost("postgresql://nowhere")

    @app.job
    async def work(ctx: Context) -> None: ...

    with pytest.raises(InvalidInput, match="run_at"):
        work.options(run_at=given)


async def test_what_is_taken_is_echoed_as_it_is_stored(emptied: str, api: httpx2.AsyncClient) -> None:
    """B180: nanoseconds are cut to microseconds, small letters are fine; row, event and answer say the same."""
    for given, stored in TAKEN.items():
        job_id = (await api.post("/v1/jobs", json={"type": "t", "run_at": given})).json()["job_id"]
        [event] = (await api.get(f"/v1/jobs/{job_id}/events")).json()["events"]
        job = (await api.get(f"/v1/jobs/{job_id}")).json()
        assert (job["run_at"], event["run_at"]) == (stored, stored)
        [(kept,)] = await rows(emptied, f"SELECT run_at FROM fencepost.jobs WHERE job_id = {job_id}")
        assert kept == datetime.fromisoformat(stored) == moment("run_at", given)
        assert (await api.patch(f"/v1/jobs/{job_id}", json={"run_at": given})).status_code == 200


async def test_a_very_old_job_is_due_first(emptied: str, api: httpx2.AsyncClient) -> None:
    """B178: run_at 1970 is kept, and overtakes ten jobs that wait, in its own priority only; each runs once."""
    ran: list[int] = []

    async def work(ctx: Context) -> None:
        ran.append(ctx.job_id)

    ids = [(await api.post("/v1/jobs", json={"type": "work"})).json()["job_id"] for _ in range(10)]
    old = {"type": "work", "run_at": "1970-01-01T00:00:00Z"}
    [first] = [(await api.post("/v1/jobs", json=old)).json()["job_id"]]
    [last] = [(await api.post("/v1/jobs", json={**old, "priority": 4})).json()["job_id"]]
    async with LiveWorker(emptied, work, slots=1):
        await finished(emptied)
    assert ran == [first, *ids, last]
    assert (await api.get(f"/v1/jobs/{first}")).json()["run_at"] == "1970-01-01T00:00:00.000000Z"


async def test_no_duration_is_negative_or_endless(emptied: str, api: httpx2.AsyncClient) -> None:
    """B179: delay, timeout, lease, period and retry waits of any odd value are 4xx; 0 only where it makes sense."""
    for field in FIELDS:
        for value in WRONG_DURATIONS:
            body = f'{{"type":"t","payload":{{"a":1}},{field.format(value)}}}'
            answer = await api.post("/v1/jobs", content=body, headers=JSON)
            assert answer.status_code in (400, 422), body
        zero = f'{{"type":"t","payload":{{"a":1}},{field.format(0)}}}'
        answer = await api.post("/v1/jobs", content=zero, headers=JSON)
        assert answer.status_code == (201 if field in ZEROES else 422), zero
    assert await rows(emptied, COUNT) == [(len(ZEROES),)]


async def test_waits_of_zero_and_old_times_do_not_loop(emptied: str, api: httpx2.AsyncClient) -> None:
    """B179: with delay 0, run_at 1970 and retries at once a job has its attempts and no more."""
    retry = {"policy": "delays", "delays": [0]}
    jobs: list[dict[str, object]] = [{"delay": 0}, {"run_at": "1970-01-01T00:00:00Z"}]
    body = json.dumps({"jobs": [{"type": "work", "max_attempts": 3, "retry": retry, **job} for job in jobs]})

    async def work(ctx: Context) -> None:
        raise ValueError("no")

    assert (await api.post("/v1/jobs/batch", content=body, headers=JSON)).status_code == 201
    async with LiveWorker(emptied, work):
        await finished(emptied)
    for job in (await api.get("/v1/jobs")).json()["items"]:
        assert (job["state"], job["attempt"]) == ("dead", 3)
        events = (await api.get(f"/v1/jobs/{job['job_id']}/events")).json()["events"]
        assert [event["name"] for event in events] == ["enqueued", *["claimed", "failed"] * 3]
        assert timedelta(0) <= _moment(events[-1]) - _moment(events[0]) < timedelta(seconds=30)


def _moment(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])
