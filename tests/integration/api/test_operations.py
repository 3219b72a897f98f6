"""Operations over HTTP: each is the domain's command, with who and why."""

from datetime import timedelta
from typing import Any

import attrs
import httpx2
import pytest

from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain import commands as c
from fencepost.domain.vocabulary import State
from support.api import Memory

PATHS = ("cancel", "requeue", "revoke", "dismiss")


@pytest.fixture
async def job(client: httpx2.AsyncClient) -> int:
    """The id of a pending job."""
    job_id: int = (await client.post("/v1/jobs", json={"type": "t", "payload": {"a": 1}})).json()["job_id"]
    return job_id


async def run(memory: Memory, job_id: int, ending: type[c.Report] | None = None, **more: Any) -> None:
    """Let a worker claim the job and, perhaps, end it."""
    store, origin = memory.container.job_store(), c.Origin("worker:1")
    await memory.container.queue_store().register(["default"])
    await store.claim(
        ClaimRequest(queue="default", types=frozenset({"t"}), limit=1, claim_id="1" * 32, origin=origin)
    )
    token = memory.database.jobs[job_id].token
    assert token is not None
    if ending is not None:
        await store.report([ending(origin=origin, token=token, **more)])


async def kill(memory: Memory, job_id: int) -> None:
    """Let the job die."""
    await run(memory, job_id, c.Discard, error=c.JobError("Useless"))


async def state(client: httpx2.AsyncClient, job_id: int) -> str:
    """The job's state now."""
    found: str = (await client.get(f"/v1/jobs/{job_id}")).json()["state"]
    return found


async def test_a_pending_job_is_cancelled(client: httpx2.AsyncClient, job: int) -> None:
    """Cancel ends a pending job, and cancelling it again changes nothing."""
    answers = [await client.post(f"/v1/jobs/{job}/cancel", json={"reason": "no need"}) for _ in range(2)]
    assert [answer.json()["verdict"] for answer in answers] == ["accepted", "already_applied"]
    events = (await client.get(f"/v1/jobs/{job}/events")).json()["events"]
    assert [(e["name"], e["actor"], e["reason"]) for e in events][1:] == [
        ("cancelled", "api:anonymous", "no need")
    ]


async def test_a_running_job_is_asked_to_stop(client: httpx2.AsyncClient, memory: Memory, job: int) -> None:
    """Cancel of a running job leaves it running, with the request noted."""
    await run(memory, job)
    assert (await client.post(f"/v1/jobs/{job}/cancel")).json() == {"job_id": job, "verdict": "accepted"}
    shown = (await client.get(f"/v1/jobs/{job}")).json()
    assert (shown["state"], shown["cancel_requested_at"]) == ("running", "2030-01-01T00:00:00.000000Z")


async def test_a_dead_job_is_requeued_with_another_payload(
    client: httpx2.AsyncClient, memory: Memory, job: int
) -> None:
    """B133: Requeue puts a dead job back, keeps its attempt and takes the new payload."""
    await kill(memory, job)
    answer = await client.post(
        f"/v1/jobs/{job}/requeue", json={"payload": {"a": 2}, "fresh_effect_key": True}
    )
    assert answer.status_code == 200
    shown = (await client.get(f"/v1/jobs/{job}")).json()
    assert (shown["state"], shown["attempt"], shown["payload"]) == ("pending", 1, {"a": 2})
    assert shown["effect_key"] is not None


async def test_a_succeeded_job_needs_a_choice_of_effect_key(
    client: httpx2.AsyncClient, memory: Memory, job: int
) -> None:
    """Requeueing a success without choosing gives 409 and says what to choose; with either choice it is done."""
    await run(memory, job, c.Succeed, result="1")
    refused = (await client.post(f"/v1/jobs/{job}/requeue")).json()
    assert (refused["status"], refused["code"]) == (409, "wrong_state")
    assert "fresh_effect_key must be chosen" in refused["detail"]
    assert refused["errors"][0]["pointer"] == "/fresh_effect_key"
    assert (await client.post(f"/v1/jobs/{job}/requeue", json={"fresh_effect_key": False})).is_success


@pytest.mark.parametrize(("body", "after"), [({}, "pending"), ({"cancel": True}, "cancelled")])
async def test_a_lease_is_ended_by_force(
    client: httpx2.AsyncClient, memory: Memory, job: int, body: dict[str, Any], after: str
) -> None:
    """Revoke takes a running job from its worker: back to pending, or cancelled when asked."""
    await run(memory, job)
    assert (await client.post(f"/v1/jobs/{job}/revoke", json=body)).is_success
    assert await state(client, job) == after


async def test_a_dead_job_is_dismissed(client: httpx2.AsyncClient, memory: Memory, job: int) -> None:
    """Dismiss hides a dead job from a worklist that asks for what is not dismissed."""
    await kill(memory, job)
    worklist = "/v1/jobs?state=dead&dismissed=false"
    assert len((await client.get(worklist)).json()["items"]) == 1
    assert (await client.post(f"/v1/jobs/{job}/dismiss", json={"reason": "known"})).is_success
    assert (await client.get(worklist)).json()["items"] == []


async def test_a_pending_job_is_edited(client: httpx2.AsyncClient, job: int) -> None:
    """PATCH changes exactly the named fields; old and new values are in the event."""
    change = {"priority": 9, "run_at": "2031-01-01T00:00:00Z", "payload": {"a": 3}, "reason": "soon"}
    assert (await client.patch(f"/v1/jobs/{job}", json=change)).is_success
    shown = (await client.get(f"/v1/jobs/{job}")).json()
    assert (shown["priority"], shown["queue"], shown["payload"]) == (9, "default", {"a": 3})
    [_, event] = (await client.get(f"/v1/jobs/{job}/events")).json()["events"]
    assert (event["data"]["old"]["priority"], event["data"]["new"]["priority"]) == (5, 9)


@pytest.mark.parametrize("path", [*PATHS, ""])
async def test_a_job_that_does_not_exist_is_not_found(client: httpx2.AsyncClient, path: str) -> None:
    """Every operation on an unknown job gives 404, whatever stands in the id's place."""
    for job_id in ("7", "0", "-1", "x", "9" * 30, "1.0", "%00", "٣"):
        address = f"/v1/jobs/{job_id}" + (f"/{path}" if path else "")
        answer = await client.request(
            "POST" if path else "PATCH", address, json={} if path else {"priority": 1}
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), job_id


@pytest.mark.parametrize("path", ["requeue", "revoke", "dismiss"])
async def test_the_wrong_state_is_a_conflict(client: httpx2.AsyncClient, job: int, path: str) -> None:
    """What the transition table does not allow gives 409 and leaves no event."""
    answer = await client.post(f"/v1/jobs/{job}/{path}")
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
    assert len((await client.get(f"/v1/jobs/{job}/events")).json()["events"]) == 1


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/cancel", {"reason": 5}, "/reason"),
        ("/cancel", {"reason": "x" * 2_001}, "/reason"),
        ("/cancel", {"force": True}, "/force"),
        ("/requeue", {"payload": []}, "/payload"),
        ("/requeue", {"payload": None}, "/payload"),
        ("/requeue", {"fresh_effect_key": "yes"}, "/fresh_effect_key"),
        ("/revoke", {"cancel": 1}, "/cancel"),
        ("", {}, ""),
        ("", {"reason": "only"}, ""),
        ("", {"priority": None}, "/priority"),
        ("", {"run_at": "tomorrow"}, "/run_at"),
        ("", {"queue": "a b"}, "/queue"),
        ("", {"type": "u"}, "/type"),
    ],
)
async def test_a_bad_operation_is_named_by_its_place(
    client: httpx2.AsyncClient, job: int, path: str, body: dict[str, Any], pointer: str
) -> None:
    """A broken rule gives 422 with a pointer, before the job is touched."""
    answer = await client.request("POST" if path else "PATCH", f"/v1/jobs/{job}{path}", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert len((await client.get(f"/v1/jobs/{job}/events")).json()["events"]) == 1


async def test_an_operation_needs_no_body_but_only_json(client: httpx2.AsyncClient, job: int) -> None:
    """No body is fine; a form, even an empty one, is not."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert (await client.post(f"/v1/jobs/{job}/cancel", headers=form)).status_code == 415
    assert await state(client, job) == "pending"
    assert (await client.post(f"/v1/jobs/{job}/cancel")).status_code == 200


@pytest.mark.parametrize("header", ["If-Match", "If-Unmodified-Since"])
async def test_a_precondition_is_refused(client: httpx2.AsyncClient, job: int, header: str) -> None:
    """The store cannot check an ETag and act in one step, so the API does not pretend to."""
    answer = await client.post(f"/v1/jobs/{job}/cancel", headers={header: '"1"'})
    assert (answer.status_code, answer.json()["code"]) == (501, "unsupported_header")
    assert await state(client, job) == "pending"


async def test_a_query_on_an_operation_is_refused(client: httpx2.AsyncClient, job: int) -> None:
    """A reason in the wrong place is not lost silently."""
    answer = await client.post(f"/v1/jobs/{job}/cancel?reason=x")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "reason")


async def test_refused_reports_are_shown_beside_the_history(
    client: httpx2.AsyncClient, memory: Memory, job: int
) -> None:
    """The evidence of fencing is with the job it is about."""
    await run(memory, job)
    late = memory.database.jobs[job].token
    assert late is not None
    await client.post(f"/v1/jobs/{job}/revoke")
    await memory.container.job_store().report([c.Succeed(origin=c.Origin("worker:1"), token=late)])
    history = (await client.get(f"/v1/jobs/{job}/events")).json()
    assert [event["name"] for event in history["evidence"]] == ["report_refused"]
    assert [event["name"] for event in history["events"]] == ["enqueued", "claimed", "revoked"]


async def test_every_field_of_an_ended_attempt_is_told(
    client: httpx2.AsyncClient, memory: Memory, job: int
) -> None:
    """An ending shows the command, the lease in force, heartbeats and times."""
    times = c.HandlerTimes.of(memory.clock.now, timedelta(seconds=1.5))
    await run(memory, job, c.Fail, error=c.JobError("ValueError", "no"), times=times)
    event = (await client.get(f"/v1/jobs/{job}/events")).json()["events"][-1]
    assert (event["name"], event["command"], event["ran"]) == ("failed", "fail", 1.5)
    assert event["lease_expires_at"] == "2030-01-01T00:00:30.000000Z"
    assert event["data"]["error"] == {"type": "ValueError", "message": "no"}


async def test_a_locked_row_is_a_conflict_after_a_wait(
    client: httpx2.AsyncClient, memory: Memory, job: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody else holds the row the operation is tried again, and then given up: 409, worth repeating."""
    monkeypatch.setattr("fencepost.application.operating.BUSY_WAIT", 0.0)
    with memory.database.locked(job):
        answer = await client.post(f"/v1/jobs/{job}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "busy")
    assert answer.headers["retry-after"] == "1"
    assert attrs.asdict(memory.database.jobs[job])["state"] is State.PENDING
    assert (await client.post(f"/v1/jobs/{job}/cancel")).is_success
