"""What commands show of jobs and events: payloads and results included, absent facts of events left out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...domain.event import ControlEvent, JobEvent
from ...domain.facts import instant
from ...domain.job import Job
from ...domain.vocabulary import EventName, State
from .. import records
from ..records import Record
from .output import Note

ESSENTIAL = (
    *("job_id", "type", "queue", "state", "priority", "run_at", "submitted_at", "attempt", "failures"),
    *(
        "max_attempts",
        "worker",
        "lease_expires_at",
        "cancel_requested_at",
        "dismissed",
        "effect_key",
        "scheduled_for",
        "died_at",
    ),
    *("error", "traceback", "payload", "result"),
)
"""What people are shown of a job, as far as there is something to show."""
_NOTHING_YET = (EventName.ENQUEUED, EventName.REQUEUED, EventName.SUCCEEDED)


def job_record(job: Job) -> Record:
    """Return everything that is true of a job now."""
    return {
        **records.job_record(job),
        **records.lease_record(job),
        **records.contents_record(job, json.loads),
    }


def last_error(events: Sequence[JobEvent]) -> Any:
    """Return what its last failure since it was submitted or requeued said: an error, or the name of that ending."""
    for event in reversed(events):
        if event.name in _NOTHING_YET:
            return None
        if "error" in event.data:
            return event.data["error"]
        if event.name is EventName.LEASE_EXPIRED:
            return event.name.value
    return None


def died_at(events: Sequence[JobEvent]) -> str | None:
    """Return when a dead job died."""
    found = [event for event in events if event.state is State.DEAD and event.name is not EventName.DISMISSED]
    return instant(found[-1].at) if found else None


def for_people(job: Record) -> Record:
    """Return a job's record as a table shows it: what matters, and only what there is."""
    told = {**job, "error": error_line(job) or None, "traceback": _traceback(job.get("error"))}
    shown = {name: told.get(name) for name in ESSENTIAL}
    return {name: value for name, value in shown.items() if value is not None and value is not False}


def error_line(record: Mapping[str, Any]) -> str:
    """Return a record's error, or that in its data, in one line without the traceback."""
    error = record.get("error") or record.get("data", {}).get("error")
    match error:
        case {"type": str() as kind, "message": str() as message} if message:
            return f"{kind}: {message}"
        case {"type": str() as kind}:
            return kind
        case None:
            return ""
        case _:
            return str(error)


def _traceback(error: object) -> str | None:
    return error.get("traceback") if isinstance(error, dict) else None


def _note(record: Mapping[str, Any]) -> str:
    return "; ".join(filter(None, (error_line(record), record.get("reason"))))


ERROR = Note("error", error_line)
NOTE = Note("note", _note)


def event_record(event: JobEvent | ControlEvent) -> Record:
    """Return an event with what it carries."""
    carried = records.contents_record(event, json.loads) if isinstance(event, JobEvent) else {}
    return _told({**records.event_record(event), **carried})


def log_record(event: JobEvent | ControlEvent) -> Record:
    """Return an event of the global log."""
    return _told(records.event_record(event))


def _told(record: Record) -> Record:
    return {name: value for name, value in record.items() if value is not None}
