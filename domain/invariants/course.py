"""A second fold, written apart from ``evolve`` on purpose: a fault in one shows against the other."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from attrs import define

from ..event import JobEvent
from ..firing_jobs import ACTOR
from ..vocabulary import TERMINAL, State
from ..vocabulary import EventName as Name
from .moments import moment


@define(eq=False)
class Course:
    """One job as far as its events have told it.

    It follows what events say, right or wrong, so that one fault is reported once. ``whole`` is False when nothing
    can be judged: the events before are missing, or the specification cannot be read.
    """

    job_id: int
    whole: bool = True
    seq: int = 0
    at: datetime | None = None
    position: int | None = None
    state: State | None = None
    attempt: int = 0
    failures: int = 0
    expiries: int = 0
    idle_returns: int = 0
    run_at: datetime | None = None
    worker: str | None = None
    claim_id: str | None = None
    granted: datetime | None = None
    cancel_requested_at: datetime | None = None
    dismissed: bool = False
    result: str | None = None
    type: str | None = None
    queue: str | None = None
    priority: int | None = None
    max_attempts: int = 0
    timeout: timedelta | None = None
    lease: timedelta = timedelta(0)
    retry: Mapping[str, Any] | None = None
    effect_key: str | None = None
    scheduled_for: datetime | None = None
    submitted_at: datetime | None = None
    payload: str | None = None
    payload_digest: str | None = None
    birth: JobEvent | None = None
    """The first event of a job that a schedule has made."""
    ended: int | None = None
    """The position at which the job ended for the first time."""


def follow(course: Course, event: JobEvent) -> None:
    """Take the event in."""
    course.seq = event.seq
    course.at = event.at
    course.position = event.position
    course.state = event.state
    course.failures = event.failures
    if event.run_at is not None:
        course.run_at = event.run_at
    step = _STEPS.get(event.name)
    if step is not None and course.whole:
        step(course, event)


def changes(event: JobEvent, side: str = "new") -> Mapping[str, Any]:
    """Return the old or new values that an ``edited`` event names; empty when it names none."""
    values = event.data.get(side)
    return values if isinstance(values, Mapping) else {}


def _enqueued(course: Course, event: JobEvent) -> None:
    data = event.data
    course.type, course.queue, course.priority = data["type"], data["queue"], data["priority"]
    course.max_attempts, course.retry, course.effect_key = (
        data["max_attempts"],
        data["retry"],
        data["effect_key"],
    )
    course.lease = timedelta(microseconds=data["lease_us"])
    if data["timeout_us"] is not None:
        course.timeout = timedelta(microseconds=data["timeout_us"])
    if (scheduled_for := data.get("scheduled_for")) is not None:
        course.scheduled_for = moment(scheduled_for)
    if event.actor.startswith(ACTOR):
        course.birth = event
    course.payload, course.payload_digest = event.payload, data["payload_digest"]
    course.submitted_at = event.at


def _claimed(course: Course, event: JobEvent) -> None:
    course.attempt = event.attempt
    course.claim_id, course.worker, course.granted = event.claim_id, event.actor, event.lease_expires_at


def _ended(course: Course, event: JobEvent) -> None:
    course.claim_id = course.worker = course.granted = None
    course.expiries = course.idle_returns = 0
    if course.ended is None and event.state in TERMINAL:
        course.ended = event.position


def _expired(course: Course, event: JobEvent) -> None:
    expiries = course.expiries
    _ended(course, event)
    course.expiries = expiries + 1


def _returned(course: Course, event: JobEvent) -> None:
    idle_returns = course.idle_returns
    _ended(course, event)
    course.idle_returns = idle_returns + 1


def _succeeded(course: Course, event: JobEvent) -> None:
    _ended(course, event)
    course.result = event.result


def _cancel_requested(course: Course, event: JobEvent) -> None:
    course.cancel_requested_at = event.at


def _requeued(course: Course, event: JobEvent) -> None:
    course.expiries = course.idle_returns = 0
    course.cancel_requested_at = course.result = None
    course.dismissed = False
    course.effect_key = event.data.get("effect_key") or course.effect_key
    if (digest := event.data.get("payload_digest")) is not None:
        course.payload, course.payload_digest = event.payload, digest


def _edited(course: Course, event: JobEvent) -> None:
    new = changes(event)
    course.queue = new.get("queue", course.queue)
    course.priority = new.get("priority", course.priority)
    if "payload_digest" in new:
        course.payload, course.payload_digest = event.payload, new["payload_digest"]


def _dismissed(course: Course, event: JobEvent) -> None:
    course.dismissed = True


_STEPS: Mapping[str, Callable[[Course, JobEvent], None]] = {
    Name.ENQUEUED: _enqueued,
    Name.CLAIMED: _claimed,
    Name.SUCCEEDED: _succeeded,
    Name.FAILED: _ended,
    Name.DIED: _ended,
    Name.SNOOZED: _returned,
    Name.RELEASED: _returned,
    Name.LEASE_EXPIRED: _expired,
    Name.CANCEL_REQUESTED: _cancel_requested,
    Name.CANCELLED: _ended,
    Name.REVOKED: _ended,
    Name.REQUEUED: _requeued,
    Name.EDITED: _edited,
    Name.DISMISSED: _dismissed,
}
