"""The fold: a job's events, in order of seq, give exactly its row."""

from collections.abc import Iterable
from typing import Any

from attrs import asdict
from attrs import evolve as changed

from . import facts
from .effects import EFFECTS, Effect
from .errors import HistoryError
from .event import JobEvent
from .job import Job, Specification
from .vocabulary import EventName


def evolve(job: Job | None, event: JobEvent) -> Job:
    """Apply one event; one whose name this version does not know changes only what every event carries.

    Raises HistoryError when the event cannot follow: not the next seq, or not ``enqueued`` first and only first.
    """
    if (job is None) is not (event.name is EventName.ENQUEUED):
        raise HistoryError(f"job {event.job_id} seq {event.seq}: {event.name} cannot be here")
    if job is None:
        return _born(event)
    if event.seq != job.seq + 1 or event.job_id != job.job_id:
        raise HistoryError(f"job {job.job_id}: seq {event.seq} of job {event.job_id} after {job.seq}")
    moved = {field: _after(job, event, field) for field in EFFECTS if event.name in EFFECTS[field]}
    return changed(
        job,
        seq=event.seq,
        state=event.state,
        failures=event.failures,
        run_at=event.run_at or job.run_at,
        **moved,
    )


def fold(events: Iterable[JobEvent]) -> Job | None:
    """Apply all events of one job; None when there are none."""
    job = None
    for event in events:
        job = evolve(job, event)
    return job


def _born(event: JobEvent) -> Job:
    if event.run_at is None:
        raise HistoryError(f"job {event.job_id}: enqueued without run_at")
    specification: Specification = facts.restore(event.data, event.payload)
    return Job(
        **asdict(specification, recurse=False),
        job_id=event.job_id,
        seq=event.seq,
        state=event.state,
        run_at=event.run_at,
        submitted_at=event.at,
    )


def _after(job: Job, event: JobEvent, field: str) -> Any:
    """Return the field's value after the event."""
    match EFFECTS[field][event.name]:
        case Effect.INCREMENT:
            return getattr(job, field) + 1
        case Effect.ZERO:
            return 0
        case Effect.CLEAR:
            return None
        case Effect.TRUE:
            return True
        case Effect.FALSE:
            return False
        case Effect.CLOCK:
            return event.at
        case Effect.GIVEN:
            return given(event, field)
        case Effect.GIVEN_IF_ANY:
            value = given(event, field)
            return getattr(job, field) if value is None else value


def given(event: JobEvent, field: str) -> Any:
    """Return the value that the event carries for a job's field; None when it carries none."""
    match field:
        case "worker":
            return event.actor
        case "queue" | "priority":
            return event.data.get("new", {}).get(field)
        case "effect_key":
            return event.data.get("effect_key")
        case _:
            return getattr(event, field)
