"""A job's whole life, driven at random: what must hold after every single step."""

from datetime import timedelta
from typing import Any

from attrs import evolve as changed
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fencepost.domain import commands as c
from fencepost.domain.decide import Refusal, decide, enqueue, renew
from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve, fold
from fencepost.domain.job import Job, Specification
from fencepost.domain.limits import CANCEL_GRACE
from fencepost.domain.retry import Constant, longest
from fencepost.domain.token import Token
from fencepost.domain.transitions import MOVES
from fencepost.domain.vocabulary import TERMINAL, EventName, State, Verdict
from support.strategies import EPOCH

ORIGIN = c.Origin("user:test", request_id="r")
ERROR = c.JobError("ValueError", "no")
SECONDS = st.integers(0, 40).map(lambda seconds: timedelta(seconds=seconds))
DRAWS = st.sampled_from([0.0, 0.5, 0.999])


class Life(RuleBasedStateMachine):
    """One job, its history, every token ever granted, and a clock that moves when it is told to."""

    @initialize(max_attempts=st.integers(1, 3), constant=st.booleans())
    def submit(self, max_attempts: int, constant: bool) -> None:
        """Accept the job."""
        self.now = EPOCH
        policy: dict[str, Any] = {"retry": Constant(timedelta(seconds=7))} if constant else {}
        specification = Specification(type="t", max_attempts=max_attempts, **policy)
        born = enqueue(c.Submit(origin=ORIGIN, specification=specification), 1, self.now)
        self.events: list[JobEvent] = [born]
        self.job: Job = evolve(None, born)
        self.granted: list[Token] = []
        self.budget = 0

    @rule(passed=SECONDS)
    def time_passes(self, passed: timedelta) -> None:
        """Move the clock."""
        self.now += passed

    @rule()
    def claim(self) -> None:
        """Try to take the lease."""
        due, before = self.job.run_at <= self.now, self.job
        verdict = self._apply(c.Claim(origin=ORIGIN, claim_id=f"claim-{len(self.events)}"))
        assert (verdict is Verdict.ACCEPTED) is (before.state is State.PENDING and due)
        if verdict is Verdict.ACCEPTED:
            assert self.job.attempt == len(self.granted) + 1
            assert self.job.token is not None
            self.granted.append(self.job.token)

    @precondition(lambda self: self.granted)
    @rule(data=st.data(), draw=DRAWS, delay=SECONDS)
    def report(self, data: st.DataObject, draw: float, delay: timedelta) -> None:
        """Report with any token ever granted: a zombie's as likely as the holder's."""
        token = data.draw(st.sampled_from(self.granted))
        held: dict[str, Any] = {"origin": ORIGIN, "token": token, "draw": draw}
        report = data.draw(
            st.sampled_from(
                [
                    c.Succeed(**held, result="1"),
                    c.Fail(**held, error=ERROR),
                    c.Fail(**held, error=ERROR, retry_in=delay),
                    c.Timeout(**held),
                    c.Discard(**held, error=ERROR),
                    c.Snooze(**held, delay=delay),
                    c.Release(**held),
                    c.ConfirmCancel(**held),
                ]
            )
        )
        opens, asked = self.job.token == token, self.job.cancel_requested
        verdict = self._apply(report)
        wanted = opens and (asked or not isinstance(report, c.ConfirmCancel))
        assert (verdict is Verdict.ACCEPTED) is wanted

    @precondition(lambda self: self.granted)
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        """Renew with any token ever granted."""
        token = data.draw(st.sampled_from(self.granted))
        before = self.job.lease_expires_at
        renewed = renew(self.job, token, self.now, CANCEL_GRACE)
        assert (renewed is not None) is (token == self.job.token)
        if renewed is not None:
            assert before is not None
            assert renewed.lease_expires_at is not None
            assert before <= renewed.lease_expires_at
            self.job = renewed

    @rule(draw=DRAWS)
    def reap(self, draw: float) -> None:
        """Let the reaper look."""
        before = self.job
        verdict = self._apply(c.Expire(origin=c.Origin("reaper"), draw=draw))
        lapsed = before.lease_expires_at is not None and before.lease_expires_at < self.now
        assert (verdict is Verdict.ACCEPTED) is lapsed
        if lapsed and self.job.state is State.PENDING:
            most = longest(before.retry, self.job.failures) if before.expiries else timedelta(0)
            assert timedelta(0) <= self.job.run_at - self.now <= most

    @rule(
        operation=st.sampled_from(
            [
                c.Cancel(origin=ORIGIN),
                c.Revoke(origin=ORIGIN),
                c.Revoke(origin=ORIGIN, cancel=True),
                c.Requeue(origin=ORIGIN),
                c.Requeue(origin=ORIGIN, fresh_effect_key=True, payload='{"a":1}'),
                c.Edit(origin=ORIGIN, priority=9, queue="other"),
                c.Dismiss(origin=ORIGIN),
            ]
        )
    )
    def operate(self, operation: c.Operation) -> None:
        """Let an operator act."""
        before = self.job
        self._apply(operation)
        if before.state in TERMINAL and self.job.state not in TERMINAL:
            assert self.events[-1].name is EventName.REQUEUED

    @invariant()
    def row_is_the_fold(self) -> None:
        """The row equals the fold of its events, but for what heartbeats have done to an open lease."""
        if not hasattr(self, "events"):
            return
        folded = fold(self.events)
        assert folded is not None
        if folded.state is State.RUNNING:
            folded = changed(
                folded, lease_expires_at=self.job.lease_expires_at, heartbeats=self.job.heartbeats
            )
        assert folded == self.job

    @invariant()
    def row_makes_sense(self) -> None:
        """Budget, lease and flags fit the state."""
        if not hasattr(self, "events"):
            return
        job, running = self.job, self.job.state is State.RUNNING
        assert job.failures <= job.max_attempts
        assert job.failures < job.max_attempts or job.state in {State.DEAD, State.CANCELLED}
        assert [event.seq for event in self.events] == list(range(1, job.seq + 1))
        assert all(value is not None for value in _lease(job)) if running else not any(_lease(job))
        assert not job.cancel_requested or job.state is not State.PENDING
        assert not job.dismissed or job.state is State.DEAD
        assert job.result is None or job.state is State.SUCCEEDED

    def _apply(self, command: c.Command) -> Verdict:
        decision = decide(self.job, command, self.now)
        if isinstance(decision, Refusal):
            return decision.verdict
        assert (self.job.state, decision.name, decision.state) in MOVES
        self.job = evolve(self.job, decision)
        self.events.append(decision)
        return Verdict.ACCEPTED


def _lease(job: Job) -> tuple[object, ...]:
    return job.worker, job.claim_id, job.lease_expires_at


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
