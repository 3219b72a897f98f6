"""One event changed, and the row rewritten to fit: only the rules of the history can tell."""

import pytest

from fencepost.domain.vocabulary import CommandName, State
from fencepost.domain.vocabulary import EventName as Name
from support.forging import GONE, Change, change, forged
from support.histories import SECOND, START, broken

BIRTH = {
    "born running": change("succeeded", 1, "I4 I9", state=State.RUNNING, run_at=START),
    "born with an attempt": change("succeeded", 1, "I4", attempt=1),
    "born with a failure": change("edited", 1, "I4 I18", failures=1),
    "born without run_at": change("succeeded", 1, "I2 I4", run_at=None),
    "born by nobody": change("succeeded", 1, "I25", actor=""),
    "max_attempts as text": change("succeeded", 1, "I7", data={"max_attempts": "3"}),
    "lease forgotten": change("succeeded", 1, "I7", data={"lease_us": GONE}),
    "payload rewritten": change("succeeded", 1, "I6", payload='{"n":7}'),
    "payload removed": change("succeeded", 1, "I6 I7", payload=None),
    "payload digest rewritten": change("succeeded", 1, "I6", data={"payload_digest": "0" * 64}),
    "max_attempts raised": change("out of budget", 1, "I18", data={"max_attempts": 3}),
    "lease lengthened": change("succeeded", 1, "I12", data={"lease_us": 31_000_000}),
}
CLAIM = {
    "attempt skipped": change("given wait", 2, "I2 I8 I10", attempt=2),
    "attempt repeated": change("requeued", 4, "I8 I10 I22", attempt=1),
    "claim_id changed": change("succeeded", 2, "I10", claim_id="other"),
    "claim_id removed": change("revoked", 4, "I9 I10", claim_id=None),
    "claimed before run_at": change("returned", 4, "I12 I13", at=START + 4 * SECOND),
    "lease granted too long": change("revoked", 2, "I12", lease_expires_at=START + 31 * SECOND),
    "failures changed": change("succeeded", 2, "I18", failures=1),
    "payload smuggled in": change("succeeded", 2, "I7", payload="{}"),
    "run_at while running": change("succeeded", 2, "I4", run_at=START),
}
REPORT = {
    "attempt of a report": change("succeeded", 3, "I10", attempt=2),
    "claim_id of a report": change("succeeded", 3, "I10", claim_id="other"),
    "claim_id of a report removed": change("succeeded", 3, "I10", claim_id=None),
    "result rewritten": change("succeeded", 3, "I6", result='{"sent":false}'),
    "result removed": change("succeeded", 3, "I6", result=None),
    "result without a digest": change("requeued success", 3, "I6", result="1"),
    "success that failed": change("succeeded", 3, "I18", failures=1),
    "success that is dead": change("succeeded", 3, "I4", state=State.DEAD),
    "failure that lets the job run": change("given wait", 3, "I4", state=State.RUNNING, run_at=None),
    "cancel confirmed by another claim": change("confirmed", 4, "I10", claim_id="other"),
    "cancel confirmed by another attempt": change("confirmed", 4, "I10", attempt=2),
    "failed by no command": change("waiting", 3, "I4", command=None),
    "failed by an operator": change("out of budget", 3, "I4", command=CommandName.REVOKE),
    "succeeded by another command": change("succeeded", 3, "I4", command=CommandName.FAIL),
    "payload in a report": change("given wait", 3, "I7", payload="{}"),
}
ENDING = {
    "no lease in an ending": change("succeeded", 3, "I12", lease_expires_at=None),
    "no heartbeats in an ending": change("succeeded", 3, "I12", heartbeats=None),
    "fewer than no heartbeats": change("succeeded", 3, "I12", heartbeats=-1),
    "lease shorter than granted": change("succeeded", 3, "I12", lease_expires_at=START, heartbeats=1),
    "lease grown without a heartbeat": change("succeeded", 3, "I12", lease_expires_at=START + 31 * SECOND),
    "reaped at the deadline": change(
        "expired", -1, "I11", lease_expires_at=START + 200 * SECOND, heartbeats=1
    ),
    "reaped early, the lease forged": change(
        "expired", 3, "I11 I12", at=START, run_at=START, lease_expires_at=START - SECOND
    ),
    "reaped early, the lease forgotten": change(
        "expired", 3, "I11 I12", at=START, run_at=START, lease_expires_at=None
    ),
}
OUTCOME = {
    "dead too early": change("given wait", 3, "I18", state=State.DEAD, run_at=None),
    "cancelled unasked": change("given wait", 3, "I4", state=State.CANCELLED, run_at=None),
    "dead though a cancel was requested": change("failed after a request", 4, "I4", state=State.DEAD),
    "pending though spent and a cancel was requested": change(
        "failed after a request", 4, "I4", state=State.PENDING, run_at=START + 10 * SECOND
    ),
    "confirmed though no cancel was requested": change(
        "released",
        -1,
        "I4",
        name=Name.CANCELLED,
        command=CommandName.CONFIRM_CANCEL,
        state=State.CANCELLED,
        run_at=None,
    ),
    "pending though a cancel was requested": change(
        "snoozed after a request", 4, "I4", state=State.PENDING, run_at=START
    ),
    "released to pending though a cancel was requested": change(
        "released after a request", 4, "I4", state=State.PENDING, run_at=START
    ),
    "released to cancelled unasked": change("returned", 5, "I4 I9 I15", state=State.CANCELLED, run_at=None),
    "expired to dead though a cancel was requested": change(
        "expired after a request", 4, "I4", state=State.DEAD
    ),
    "revoked to pending though a cancel was requested": change(
        "revoked after a request", 4, "I4", state=State.PENDING, run_at=START
    ),
    "requeued by a worker": change("requeued success", 4, "I15", actor="worker:one"),
    "requeued by the reaper": change("requeued success", 4, "I15", actor="reaper"),
    "pending without run_at": change("revoked", 3, "I4", run_at=None),
    "failed to pending without run_at": change("waiting", 3, "I4", run_at=None),
    "failed to dead with run_at": change("out of budget", -1, "I4", run_at=START),
}
BUDGET = {
    "failure not counted": change("given wait", 3, "I18", failures=0),
    "failure counted twice": change("given wait", 3, "I18", failures=2),
    "expiry not counted": change("expired", 3, "I18", failures=0),
    "pending though spent": change(
        "out of budget", -1, "I18", state=State.PENDING, run_at=START + 20 * SECOND
    ),
    "snooze counted": change("returned", 3, "I18 I20", failures=1),
    "release counted": change("returned", 5, "I18 I20", failures=1),
    "released beyond the cap": change(
        "beyond the cap", -1, "I20", name="released", command=None, failures=0, run_at=START
    ),
    "snooze called a failure below the cap": change("waiting", 3, "I20", command=CommandName.SNOOZE),
    "run_at beyond the policy": change("waiting", 3, "I21", run_at=START + 11 * SECOND),
    "run_at before the policy": change("expired", 5, "I21", run_at=START + 80 * SECOND),
    "run_at not the one given": change("given wait", 3, "I21", run_at=START + 10 * SECOND),
    "a given wait nobody could give": change("given wait", 3, "I21", command=CommandName.TIMEOUT),
    "a first expiry that waits": change("expiry forgiven", -1, "I21", run_at=START + 99 * SECOND),
    "failures kept by a requeue": change("requeued", 7, "I18 I22", failures=1),
    "attempt reset by a requeue": change("requeued", 7, "I22", attempt=0),
    "a requeue that names a claim": change("requeued", 7, "I10", claim_id="claim-2"),
    "a requeue for later": change("requeued success", 4, "I4", run_at=START - SECOND),
    "revoked to later": change("revoked", 3, "I4", run_at=START - SECOND),
    "released to earlier": change("returned", 5, "I4", run_at=START),
    "snoozed into the past": change("returned", 3, "I4", run_at=START - SECOND),
    "failures changed by a cancel request": change("confirmed", 3, "I18", failures=1),
    "failures changed by a dismissal": change("requeued", 6, "I18", failures=0),
}
OPERATION = {
    "attempt changed by a cancel request": change("confirmed", 3, "I8", attempt=2),
    "cancel request without the open claim": change("confirmed", 3, "I10", claim_id=None),
    "pending job cancelled with a claim": change("cancelled", 2, "I10", claim_id="claim-1"),
    "cancelled outright while running": change(
        "confirmed", 4, "I4", command=CommandName.CANCEL, request_id="r"
    ),
    "confirmed while pending": change("cancelled", 2, "I4 I10", command=CommandName.CONFIRM_CANCEL),
    "cancel request without an actor": change("confirmed", 3, "I38", actor=""),
    "cancel request without a request id": change("confirmed", 3, "I38", request_id=None),
    "cancel without a request id": change("cancelled", 2, "I38", request_id=None),
    "revoked without a request id": change("revoked", 3, "I38", request_id=None),
    "requeued without a request id": change("requeued", 7, "I38", request_id=""),
    "edited without a request id": change("edited", 2, "I38", request_id=None),
    "dismissed without a request id": change("requeued", 6, "I38", request_id=None),
    "payload in a cancel request": change("confirmed", 3, "I7", payload="{}"),
    "payload in a dismissal": change("requeued", 6, "I7", payload="{}"),
    "requeue payload rewritten": change("requeued", 7, "I6", payload='{"n":8}'),
    "edit payload rewritten": change("edited", 2, "I6", payload='{"n":8}'),
    "edit of run_at unsaid": change("edited", 2, "I7", run_at=START),
    "edit of priority from another": change("edited", 3, "I7", data={"old": {"priority": 5}}),
    "edit of a priority that was not there": change("edited", 3, "I7", data={"old": {"priority": None}}),
    "edit of another payload": change("payload edited", 2, "I7", data={"old": {"payload_digest": "0" * 64}}),
    "edit that forgets the old payload": change(
        "payload edited", 2, "I7", data={"old": {"payload_digest": None}}
    ),
    "edit that hides the old value": change("edited", 3, "I7", data={"old": {}}),
    "edit of a field that cannot be edited": change(
        "edited", 3, "I7", data={"old": {"type": "mail"}, "new": {"type": "spam"}}
    ),
    "edit of the attempt": change("edited", 2, "I8", attempt=1),
    "edit of failures": change("edited", 3, "I18", failures=1),
}


@pytest.mark.parametrize(
    "forgery",
    [
        pytest.param(forgery, id=name)
        for table in (BIRTH, CLAIM, REPORT, ENDING, OUTCOME, BUDGET, OPERATION)
        for name, forgery in table.items()
    ],
)
def test_a_forged_event_breaks_the_promise_it_forges(forgery: Change) -> None:
    """Each changed event breaks exactly the invariants named, though the row fits."""
    assert broken(forged(forgery)) == set(forgery.breaks.split())
