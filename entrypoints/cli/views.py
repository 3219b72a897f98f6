"""Jobs and events as records: JSON values under the vocabulary's names; times in RFC 3339, durations in seconds."""

import json
from datetime import datetime, timedelta
from typing import Any

from ...domain.event import ControlEvent, JobEvent
from ...domain.facts import instant
from ...domain.job import Job
from ...domain.retry import Constant, Delays, RetryPolicy


def job_record(job: Job) -> dict[str, Any]:
    """Return everything that is true of a job now."""
    return {
        "job_id": job.job_id,
        "type": job.type,
        "queue": job.queue,
        "state": job.state.value,
        "priority": job.priority,
        "run_at": instant(job.run_at),
        "submitted_at": instant(job.submitted_at),
        "attempt": job.attempt,
        "failures": job.failures,
        "max_attempts": job.max_attempts,
        "expiries": job.expiries,
        "idle_returns": job.idle_returns,
        "worker": job.worker,
        "claim_id": job.claim_id,
        "lease_expires_at": _moment(job.lease_expires_at),
        "heartbeats": job.heartbeats,
        "cancel_requested_at": _moment(job.cancel_requested_at),
        "dismissed": job.dismissed,
        "timeout": _seconds(job.timeout),
        "lease": _seconds(job.lease),
        "retry": _retry(job.retry),
        "effect_key": job.effect_key,
        "seq": job.seq,
        "payload": _json(job.payload),
        "result": _json(job.result),
    }


def job_event_record(event: JobEvent) -> dict[str, Any]:
    """Return an event with what it carries; absent facts are left out."""
    record = {
        "position": event.position,
        "subject": f"job:{event.job_id}",
        "job_id": event.job_id,
        "seq": event.seq,
        "at": instant(event.at),
        "name": event.name.value,
        "command": event.caused_by.value if event.caused_by else None,
        "state": event.state.value,
        "attempt": event.attempt,
        "claim_id": event.claim_id,
        "failures": event.failures,
        "run_at": _moment(event.run_at),
        "lease_expires_at": _moment(event.lease_expires_at),
        "heartbeats": event.heartbeats,
        "started_at": _moment(event.started_at),
        "ran": _seconds(event.ran),
        "actor": event.actor,
        "request_id": event.request_id,
        "reason": event.reason,
        "build": event.build,
        "data": dict(event.data),
        "payload": _json(event.payload),
        "result": _json(event.result),
    }
    return {name: value for name, value in record.items() if value is not None}


def control_event_record(event: ControlEvent) -> dict[str, Any]:
    """Return a control event; absent facts are left out."""
    record = {
        "position": event.position,
        "subject": event.subject,
        "at": instant(event.at),
        "name": event.name.value,
        "actor": event.actor,
        "request_id": event.request_id,
        "reason": event.reason,
        "data": dict(event.data),
    }
    return {name: value for name, value in record.items() if value is not None}


def event_record(event: JobEvent | ControlEvent) -> dict[str, Any]:
    """Return an event of either table."""
    return job_event_record(event) if isinstance(event, JobEvent) else control_event_record(event)


def log_record(event: JobEvent | ControlEvent) -> dict[str, Any]:
    """Return an event of the global log: ``data`` holds digests of the payload and result that it leaves out."""
    record = event_record(event)
    return {name: value for name, value in record.items() if name not in {"payload", "result"}}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else instant(moment)


def _seconds(duration: timedelta | None) -> float | None:
    if duration is None:
        return None
    seconds = duration.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _retry(policy: RetryPolicy) -> dict[str, Any]:
    match policy:
        case Constant(delay=delay):
            return {"policy": "constant", "delay": _seconds(delay)}
        case Delays(delays=delays):
            return {"policy": "delays", "delays": [_seconds(delay) for delay in delays]}
        case _:
            return {"policy": "exponential", "base": _seconds(policy.base), "cap": _seconds(policy.cap)}


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
