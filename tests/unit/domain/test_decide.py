"""The decider by example: what events say beside the move itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve as changed

from fencepost.domain import commands as c
from fencepost.domain.decide import Refusal, decide, enqueue, renew
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.facts import digest
from fencepost.domain.job import Job, Specification
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import EventName, State, Verdict

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ANN = c.Origin("user:ann", "req-1", "because", None)
WORKER = c.Origin("worker:1", build="b7")
ERROR = c.JobError("ValueError", "no")


def job(**fields: Any) -> Job:
    """A pending job, or whatever the fields say."""
    born = fold([enqueue(c.Submit(origin=ANN, specification=Specification(type="t")), 7, NOW)])
    assert born is not None
    return changed(born, **fields)


def running(**fields: Any) -> Job:
    """A running job in its second attempt, claimed at NOW."""
    lease: dict[str, Any] = {"worker": "worker:1", "claim_id": "c", "lease_expires_at": NOW + 30 * SECOND}
    return job(**({"state": State.RUNNING, "attempt": 2, "seq": 5} | lease | fields))


def event(before: Job, command: c.Command, now: datetime = NOW) -> JobEvent:
    """The event that follows."""
    decided = decide(before, command, now)
    assert isinstance(decided, JobEvent)
    return decided


TOKEN = Token(7, 2, "c")


def test_an_event_carries_the_paper_trail() -> None:
    """Actor, request id, reason and build of the command are in its event."""
    cancelled = event(job(), c.Cancel(origin=ANN))
    assert (cancelled.actor, cancelled.request_id, cancelled.reason) == ("user:ann", "req-1", "because")
    claimed = event(job(), c.Claim(origin=WORKER, claim_id="c"))
    assert (claimed.actor, claimed.build) == ("worker:1", "b7")


def test_a_claim_says_which_attempt_and_until_when() -> None:
    """The event of a claim names attempt, claim and lease; the payload is not repeated."""
    claimed = event(job(attempt=4), c.Claim(origin=WORKER, claim_id="c"))
    assert (claimed.attempt, claimed.claim_id) == (5, "c")
    assert claimed.lease_expires_at == NOW + 30 * SECOND
    assert claimed.payload is None


def test_an_ending_says_what_the_lease_was() -> None:
    """Lease, heartbeats, start and run time of the attempt stay in its last event."""
    times = c.HandlerTimes.of(NOW + SECOND, 3 * SECOND)
    ended = event(running(heartbeats=4), c.Succeed(origin=WORKER, token=TOKEN, times=times, result="1"))
    assert (ended.lease_expires_at, ended.heartbeats) == (NOW + 30 * SECOND, 4)
    assert (ended.started_at, ended.ran) == (NOW + SECOND, 3 * SECOND)
    assert (ended.result, ended.data) == ("1", {"result_digest": digest("1")})


def test_cancelling_a_pending_job_ends_no_lease() -> None:
    """Where there was no lease the event names none."""
    cancelled = event(job(), c.Cancel(origin=ANN))
    assert (cancelled.lease_expires_at, cancelled.heartbeats, cancelled.claim_id) == (None, None, None)


def test_a_failure_waits_by_its_policy_or_as_told() -> None:
    """The first wait is drawn from 10 s, the second from 20 s; a given wait replaces it and is on record."""
    half: dict[str, Any] = {"origin": WORKER, "token": TOKEN, "draw": 0.5, "error": ERROR}
    assert event(running(), c.Fail(**half)).run_at == NOW + 5 * SECOND
    assert event(running(failures=1), c.Fail(**half)).run_at == NOW + 10 * SECOND
    told = event(running(), c.Fail(**half, retry_in=7 * SECOND))
    assert told.run_at == NOW + 7 * SECOND
    assert told.data == {"error": {"type": "ValueError", "message": "no"}, "retry_in_us": 7_000_000}


def test_the_last_failure_is_death() -> None:
    """With the budget gone the job is dead and waits for nothing."""
    failed = event(running(failures=4), c.Fail(origin=WORKER, token=TOKEN, error=ERROR))
    assert (failed.name, failed.state, failed.failures) == (EventName.FAILED, State.DEAD, 5)
    assert failed.run_at is None


def test_a_cancel_request_wins_over_death() -> None:
    """A job that fails for the last time after a cancel request is cancelled."""
    asked = running(failures=4, cancel_requested_at=NOW)
    failed = event(asked, c.Timeout(origin=WORKER, token=TOKEN))
    assert (failed.name, failed.state, failed.failures) == (EventName.FAILED, State.CANCELLED, 5)
    assert failed.data["error"]["type"] == "timeout"


def test_work_done_after_a_cancel_request_is_done() -> None:
    """Success and discard stand, whoever asked."""
    asked = running(cancel_requested_at=NOW)
    assert event(asked, c.Succeed(origin=WORKER, token=TOKEN)).state is State.SUCCEEDED
    assert event(asked, c.Discard(origin=WORKER, token=TOKEN, error=ERROR)).state is State.DEAD


def test_the_first_expiry_is_forgiven_the_wait() -> None:
    """A lease lost once runs again at once; lost twice in a row it backs off, under suspicion."""
    later = NOW + 31 * SECOND
    reap = c.Expire(origin=c.Origin("reaper"), draw=0.5)
    assert event(running(), reap, later).run_at == later
    assert event(running(expiries=1, failures=1), reap, later).run_at == later + 10 * SECOND


def test_a_lease_is_not_reaped_on_its_last_instant() -> None:
    """Only strictly after its end has a lease lapsed."""
    reap = c.Expire(origin=c.Origin("reaper"))
    assert decide(running(), reap, NOW + 30 * SECOND) == Refusal(Verdict.REFUSED)
    lapsed = event(running(), reap, NOW + 30 * SECOND + timedelta(microseconds=1))
    assert lapsed.name is EventName.LEASE_EXPIRED


@pytest.mark.parametrize(
    "command",
    [c.Snooze(origin=WORKER, token=TOKEN, delay=SECOND), c.Release(origin=WORKER, token=TOKEN)],
)
def test_returns_are_free_until_the_cap(command: c.Report) -> None:
    """The thousandth return in a row is free, the next one is a failure named ``snooze_cap``."""
    free = event(running(idle_returns=999), command)
    assert (free.failures, free.state) == (0, State.PENDING)
    counted = event(running(idle_returns=1_000), command)
    assert (counted.name, counted.command, counted.failures) == (EventName.FAILED, command.name, 1)
    assert counted.data["error"]["type"] == "snooze_cap"


def test_a_release_keeps_the_due_time_and_a_snooze_sets_it() -> None:
    """A job handed back stays due since when it was; a snoozed one waits from now."""
    before = running(run_at=NOW - 9 * SECOND)
    assert event(before, c.Release(origin=WORKER, token=TOKEN)).run_at == NOW - 9 * SECOND
    snoozed = event(before, c.Snooze(origin=WORKER, token=TOKEN, delay=SECOND))
    assert snoozed.run_at == NOW + SECOND


def test_an_edit_records_old_and_new() -> None:
    """Only the fields it names, payloads by their digests."""
    edit = c.Edit(origin=ANN, priority=9, payload='{"a":1}', run_at=NOW + SECOND)
    edited = event(job(), edit)
    assert edited.data == {
        "old": {"priority": 5, "run_at": "2030-01-01T00:00:00.000000Z", "payload_digest": digest("{}")},
        "new": {
            "priority": 9,
            "run_at": "2030-01-01T00:00:01.000000Z",
            "payload_digest": digest('{"a":1}'),
        },
    }
    after = evolve(job(), edited)
    assert (after.priority, after.payload, after.run_at) == (9, '{"a":1}', NOW + SECOND)
    assert after.queue == "default"


def test_an_edit_of_an_erased_payload_says_that_there_was_none() -> None:
    """The old digest of nothing is nothing."""
    edited = event(job(payload=None), c.Edit(origin=ANN, payload="{}"))
    assert edited.data["old"] == {"payload_digest": None}


def test_requeueing_a_succeeded_job_must_say_what_becomes_of_its_effect() -> None:
    """Keeping or renewing the effect key has to be chosen where the effect may have happened."""
    done = job(state=State.SUCCEEDED, effect_key="mine", seq=9)
    assert decide(done, c.Requeue(origin=ANN), NOW) == Refusal(Verdict.REFUSED)
    kept = evolve(done, event(done, c.Requeue(origin=ANN, fresh_effect_key=False)))
    assert kept.effect_key == "mine"
    fresh = evolve(done, event(done, c.Requeue(origin=ANN, fresh_effect_key=True)))
    assert fresh.effect_key == "job-7-10"


def test_a_requeue_keeps_the_attempt_and_clears_the_rest() -> None:
    """B133: Budget, flags and result start over; the fencing token goes on growing."""
    dead = job(state=State.DEAD, attempt=5, failures=5, expiries=2, dismissed=True, cancel_requested_at=NOW)
    back = evolve(dead, event(dead, c.Requeue(origin=ANN), NOW + SECOND))
    assert (back.state, back.attempt, back.failures, back.expiries) == (State.PENDING, 5, 0, 0)
    assert (back.dismissed, back.cancel_requested, back.run_at) == (False, False, NOW + SECOND)


def test_revoking_ends_a_lease_by_force() -> None:
    """The job is due at once, or cancelled when somebody wants that; no budget is used."""
    back = event(running(), c.Revoke(origin=ANN))
    assert (back.state, back.run_at, back.failures) == (State.PENDING, NOW, 0)
    assert event(running(), c.Revoke(origin=ANN, cancel=True)).state is State.CANCELLED
    assert event(running(cancel_requested_at=NOW), c.Revoke(origin=ANN)).state is State.CANCELLED


@pytest.mark.parametrize(
    ("before", "command"),
    [
        (running(cancel_requested_at=NOW), c.Cancel(origin=ANN)),
        (job(state=State.CANCELLED), c.Cancel(origin=ANN)),
        (job(state=State.DEAD, dismissed=True), c.Dismiss(origin=ANN)),
    ],
)
def test_repeating_what_is_done_adds_nothing(before: Job, command: c.Command) -> None:
    """A second cancel or dismiss is ``already_applied``."""
    assert decide(before, command, NOW) == Refusal(Verdict.ALREADY_APPLIED)


def test_a_heartbeat_never_shortens_a_lease() -> None:
    """A clock that steps back leaves the lease where it was."""
    renewed = renew(running(), TOKEN, NOW - 60 * SECOND, 30 * SECOND)
    assert renewed is not None
    assert renewed.lease_expires_at == NOW + 30 * SECOND


def test_after_the_grace_a_cancelled_job_is_not_renewed() -> None:
    """Heartbeats are answered, the lease stays."""
    asked = running(cancel_requested_at=NOW)
    inside = renew(asked, TOKEN, NOW + 30 * SECOND, 30 * SECOND)
    beyond = renew(asked, TOKEN, NOW + 30.5 * SECOND, 30 * SECOND)
    assert inside is not None
    assert inside.lease_expires_at == NOW + 60 * SECOND
    assert beyond is not None
    assert beyond.lease_expires_at == NOW + 30 * SECOND


def test_a_submit_waits_from_the_databases_now() -> None:
    """A delay counts from the clock that decides, a run_at is taken as it is."""
    specification = Specification(type="t")
    delayed = enqueue(c.Submit(origin=ANN, specification=specification, delay=SECOND), 1, NOW)
    dated = enqueue(c.Submit(origin=ANN, specification=specification, run_at=NOW - SECOND), 1, NOW)
    assert (delayed.run_at, dated.run_at) == (NOW + SECOND, NOW - SECOND)
