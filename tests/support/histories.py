"""Histories made by the domain itself, for whoever judges them: time passes only when a story says so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Self

from attrs import Factory, define, evolve

from fencepost.domain import commands as c
from fencepost.domain.decide import decide, enqueue, renew
from fencepost.domain.event import ControlEvent, JobEvent
from fencepost.domain.evolve import evolve as applied
from fencepost.domain.invariants import Report, check
from fencepost.domain.job import Job, Specification
from fencepost.domain.limits import CANCEL_GRACE
from fencepost.domain.retry import Constant
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import ControlEventName

START = datetime(2030, 1, 1, tzinfo=UTC)
LONG_AFTER = START + timedelta(days=3650)
SECOND = timedelta(seconds=1)
WORKER = c.Origin("worker:one")
OPERATOR = c.Origin("user:ann", request_id="request-1")
REAPER = c.Origin("reaper")


@define
class Story:
    """One job's history; each method is one more event, unless it says otherwise."""

    job_id: int = 1
    now: datetime = START
    events: list[JobEvent] = Factory(list)
    row: Job | None = None
    positions: Iterator[int] = Factory(lambda self: count(self.job_id * 1000 + 1), takes_self=True)

    @property
    def job(self) -> Job:
        """The row."""
        assert self.row is not None
        return self.row

    @property
    def token(self) -> Token:
        """The token of the open lease."""
        assert self.job.token is not None
        return self.job.token

    def add(self, event: JobEvent) -> Self:
        """Append an event and apply it."""
        self.events.append(evolve(event, position=next(self.positions)))
        self.row = applied(self.row, event)
        return self

    def do(self, command: c.Command) -> Self:
        """Append what the decider makes of a command, which must be an event."""
        event = decide(self.row, command, self.now)
        assert isinstance(event, JobEvent), event
        return self.add(event)

    def after(self, seconds: float) -> Self:
        """Let time pass: no event."""
        self.now += seconds * SECOND
        return self

    def submit(self, **facts: Any) -> Self:
        """Accept the job; three attempts with ten seconds between unless told otherwise."""
        usual = {
            "type": "mail",
            "payload": '{"n":1}',
            "max_attempts": 3,
            "retry": Constant(10 * SECOND),
            "timeout": None,
        }
        specification = Specification(**{**usual, **facts})
        return self.add(
            enqueue(c.Submit(origin=OPERATOR, specification=specification), self.job_id, self.now)
        )

    def claim(self) -> Self:
        """Grant the next attempt as soon as the job is due."""
        self.now = max(self.now, self.job.run_at)
        return self.do(c.Claim(origin=WORKER, claim_id=f"claim-{self.job.attempt + 1}"))

    def heartbeat(self) -> Self:
        """Extend the lease: no event."""
        self.row = renew(self.job, self.token, self.now, CANCEL_GRACE)
        return self

    def succeed(self, result: str | None = None) -> Self:
        """Report success."""
        return self.do(c.Succeed(origin=WORKER, token=self.token, result=result))

    def fail(self, retry_in: timedelta | None = None) -> Self:
        """Report a failure."""
        error = c.JobError("ValueError", "no")
        return self.do(c.Fail(origin=WORKER, token=self.token, error=error, retry_in=retry_in, draw=0.5))

    def discard(self) -> Self:
        """Report that retrying is useless."""
        return self.do(c.Discard(origin=WORKER, token=self.token, error=c.JobError("Useless")))

    def snooze(self) -> Self:
        """Ask to be run again in five seconds."""
        return self.do(c.Snooze(origin=WORKER, token=self.token, delay=5 * SECOND, draw=0.5))

    def release(self) -> Self:
        """Hand the job back."""
        return self.do(c.Release(origin=WORKER, token=self.token))

    def confirm(self) -> Self:
        """Confirm a cancel."""
        return self.do(c.ConfirmCancel(origin=WORKER, token=self.token))

    def expire(self) -> Self:
        """Reap the lease one second after its deadline."""
        assert self.job.lease_expires_at is not None
        self.now = max(self.now, self.job.lease_expires_at + SECOND)
        return self.do(c.Expire(origin=REAPER, draw=0.5))

    def cancel(self) -> Self:
        """Cancel a pending job, or ask a running one to stop."""
        return self.do(c.Cancel(origin=OPERATOR))

    def revoke(self, *, cancel: bool = False) -> Self:
        """End the lease by force."""
        return self.do(c.Revoke(origin=OPERATOR, cancel=cancel))

    def requeue(self, payload: str | None = None) -> Self:
        """Put the finished job back with a fresh effect key."""
        return self.do(c.Requeue(origin=OPERATOR, payload=payload, fresh_effect_key=True))

    def edit(self, **fields: Any) -> Self:
        """Change the pending job."""
        return self.do(c.Edit(origin=OPERATOR, **fields))

    def dismiss(self) -> Self:
        """Hide the dead job."""
        return self.do(c.Dismiss(origin=OPERATOR))

    def idle(self, times: int) -> Self:
        """Claim and release so many times."""
        for _ in range(times):
            self.claim().release()
        return self


def judged(
    events: Sequence[JobEvent], row: Job | None = None, controls: Sequence[ControlEvent] = ()
) -> Report:
    """Judge one job's history and row."""
    log: list[JobEvent | Job] = [*events]
    return check(log if row is None else [*log, row], controls, LONG_AFTER)


def log_of(*stories: Story) -> list[JobEvent | Job]:
    """The log of several jobs, as a port streams it."""
    log: list[JobEvent | Job] = []
    for story in stories:
        log += [*story.events, story.job]
    return log


def broken(report: Report) -> set[str]:
    """The names of the invariants that do not hold."""
    return set(report.counts)


def control(
    name: ControlEventName,
    subject: str,
    position: int,
    *,
    request_id: str | None = "request-2",
    data: Mapping[str, Any] | None = None,
) -> ControlEvent:
    """One control event by an operator."""
    return ControlEvent(
        subject=subject,
        name=name,
        at=START,
        actor=OPERATOR.actor,
        request_id=request_id,
        data=data or {},
        position=position,
    )


STORIES: dict[str, Callable[[], Story]] = {
    "succeeded": lambda: Story().submit().claim().succeed('{"sent":true}'),
    "out of budget": lambda: Story().submit(max_attempts=2).claim().fail().claim().fail(),
    "released": lambda: Story().submit().claim().release(),
    "waiting": lambda: Story().submit().claim().fail(),
    "given wait": lambda: Story().submit().claim().fail(retry_in=7 * SECOND),
    "requeued": lambda: (
        Story().submit().claim().fail().claim().discard().dismiss().requeue('{"n":2}').claim()
    ),
    "requeued success": lambda: Story().submit().claim().succeed().requeue().claim().succeed(),
    "edited": lambda: (
        Story()
        .submit()
        .edit(priority=9, queue="fast", payload='{"n":3}', run_at=START + 60 * SECOND)
        .edit(priority=1)
        .claim()
    ),
    "payload edited": lambda: Story().submit().edit(payload='{"n":4}'),
    "returned": lambda: Story().submit().claim().snooze().claim().after(1).release().claim().heartbeat(),
    "expired": lambda: (
        Story().submit().claim().expire().claim().after(9).heartbeat().expire().claim().expire()
    ),
    "expiry forgiven": lambda: (
        Story().submit(max_attempts=9).claim().expire().claim().release().claim().expire()
    ),
    "confirmed": lambda: Story().submit().claim().cancel().confirm(),
    "cancelled": lambda: Story().submit().cancel().requeue().claim(),
    "failed after a request": lambda: Story().submit(max_attempts=1).claim().cancel().fail(),
    "snoozed after a request": lambda: Story().submit().claim().cancel().snooze(),
    "released after a request": lambda: Story().submit().claim().cancel().release(),
    "expired after a request": lambda: Story().submit(max_attempts=1).claim().cancel().expire(),
    "done after a request": lambda: Story().submit().claim().cancel().succeed(),
    "revoked": lambda: Story().submit().claim().revoke().claim().revoke(cancel=True),
    "revoked after a request": lambda: Story().submit().claim().cancel().revoke(),
    "beyond the cap": lambda: Story().submit().idle(1000).claim().snooze(),
}
"""One history for every way of the transition table."""
