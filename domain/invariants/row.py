"""The row of ``jobs`` beside the fold of its events: I2, and I7 for the facts of submission."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ..facts import digest
from ..job import Job
from ..retry import RetryPolicy, describe
from ..vocabulary import State
from .course import Course
from .inquiry import Inquiry, Violation

_LIFE = (
    "seq",
    "state",
    "attempt",
    "failures",
    "expiries",
    "idle_returns",
    "run_at",
    "worker",
    "claim_id",
    "cancel_requested_at",
    "dismissed",
    "result",
)
_FACTS = (
    "type",
    "queue",
    "priority",
    "max_attempts",
    "timeout",
    "lease",
    "effect_key",
    "scheduled_for",
    "submitted_at",
)
_life: Callable[[object], tuple[object, ...]] = attrgetter(*_LIFE)
_facts: Callable[[object], tuple[object, ...]] = attrgetter(*_FACTS)


def check_row(course: Course, row: Job, inquiry: Inquiry) -> None:
    """I2, I7: the row is the fold, field by field; a running job's lease may be later, by heartbeats."""
    if (told := _life(course)) != (shown := _life(row)):
        _differ("I2", _LIFE, told, shown, row, inquiry)
    if (told := _facts(course)) != (shown := _facts(row)):
        _differ("I7", _FACTS, told, shown, row, inquiry)
    if course.retry != _described(row.retry):
        inquiry.note(_violation("I7", row, f"retry is {row.retry}, events say {course.retry}"))
    _check_lease(course, row, inquiry)
    if row.payload != course.payload or row.payload is None:
        _check_payload(course, row, inquiry)


def _differ(
    invariant: str,
    fields: tuple[str, ...],
    told: tuple[object, ...],
    shown: tuple[object, ...],
    row: Job,
    inquiry: Inquiry,
) -> None:
    for field, by_events, in_row in zip(fields, told, shown, strict=True):
        if by_events != in_row:
            inquiry.note(_violation(invariant, row, f"{field} is {in_row!r}, events say {by_events!r}"))


def _violation(invariant: str, row: Job, what: str) -> Violation:
    return Violation(invariant, row.job_id, None, None, f"row: {what}")


def _check_lease(course: Course, row: Job, inquiry: Inquiry) -> None:
    lease, granted, heartbeats = row.lease_expires_at, course.granted, row.heartbeats
    if row.state is not State.RUNNING or granted is None:
        right = lease is granted is None and heartbeats == 0
    elif heartbeats == 0:
        right = lease == granted
    else:
        right = heartbeats > 0 and lease is not None and lease >= granted
    if not right:
        what = f"lease to {lease} after {heartbeats} heartbeats, granted to {granted}"
        inquiry.note(_violation("I2", row, what))


def _check_payload(course: Course, row: Job, inquiry: Inquiry) -> None:
    """Either text may have been erased; the digest stays."""
    if row.payload is not None:
        if digest(row.payload) != course.payload_digest:
            inquiry.note(_violation("I7", row, "the payload is not the one that events tell of"))
    elif course.payload_digest is not None:
        job_id = row.job_id
        missing = _violation("I7", row, "the payload is missing but was not erased")
        inquiry.note(missing, lambda known: job_id in known.erased)


@lru_cache(maxsize=1024)
def _described(policy: RetryPolicy) -> Mapping[str, Any]:
    return describe(policy)
