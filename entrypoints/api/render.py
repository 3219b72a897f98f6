"""Answers as JSON. Payloads and results are spliced in as they are stored: no number is read and written again."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from ...application.ports.queue_store import Queue
from ...domain.event import ControlEvent, JobEvent
from ...domain.facts import instant
from ...domain.job import Job
from ...domain.retry import Constant, Delays, RetryPolicy


def json_response(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer."""
    return Response(encoded(content), status, headers, "application/json")


def encoded(content: object) -> bytes:
    """Return JSON text."""
    return msgspec.json.encode(content)


def job(job: Job) -> dict[str, Any]:
    """Return a job in full.

    The end of its lease is left out: it moves with each heartbeat, without an event, and the ETag is the seq.
    """
    return {**job_in_list(job), "payload": _stored(job.payload), "result": _stored(job.result)}


def job_in_list(job: Job) -> dict[str, Any]:
    """Return a job without payload and result, of which a page could hold 250 MiB."""
    return {
        "job_id": job.job_id,
        "type": job.type,
        "queue": job.queue,
        "priority": job.priority,
        "state": job.state.value,
        "seq": job.seq,
        "run_at": instant(job.run_at),
        "submitted_at": instant(job.submitted_at),
        "attempt": job.attempt,
        "failures": job.failures,
        "expiries": job.expiries,
        "idle_returns": job.idle_returns,
        "max_attempts": job.max_attempts,
        "timeout": _seconds(job.timeout),
        "lease": _seconds(job.lease),
        "retry": retry(job.retry),
        "effect_key": job.effect_key,
        "worker": job.worker,
        "claim_id": job.claim_id,
        "cancel_requested_at": _moment(job.cancel_requested_at),
        "dismissed": job.dismissed,
    }


def retry(policy: RetryPolicy) -> dict[str, Any]:
    """Return a retry policy in the form in which it is submitted."""
    match policy:
        case Constant(delay=delay):
            return {"policy": "constant", "delay": _seconds(delay)}
        case Delays(delays=delays):
            return {"policy": "delays", "delays": [_seconds(delay) for delay in delays]}
        case _:
            return {"policy": "exponential", "base": _seconds(policy.base), "cap": _seconds(policy.cap)}


def event(event: JobEvent) -> dict[str, Any]:
    """Return an event of one job, payload and result included."""
    return {
        **event_in_log(event),
        "payload": _stored(event.payload),
        "result": _stored(event.result),
    }


def event_in_log(event: JobEvent | ControlEvent) -> dict[str, Any]:
    """Return an event of the global log: ``data`` holds digests of the payload and result that it leaves out."""
    common = {
        "position": event.position,
        "name": event.name.value,
        "at": instant(event.at),
        "actor": event.actor,
        "request_id": event.request_id,
        "reason": event.reason,
        "data": event.data,
    }
    if isinstance(event, ControlEvent):
        return {"subject": event.subject, **common}
    return {
        "subject": f"job:{event.job_id}",
        **common,
        "job_id": event.job_id,
        "seq": event.seq,
        "command": None if event.caused_by is None else event.caused_by.value,
        "state": event.state.value,
        "attempt": event.attempt,
        "claim_id": event.claim_id,
        "failures": event.failures,
        "run_at": _moment(event.run_at),
        "lease_expires_at": _moment(event.lease_expires_at),
        "heartbeats": event.heartbeats,
        "started_at": _moment(event.started_at),
        "ran": _seconds(event.ran),
        "build": event.build,
    }


def queue(queue: Queue) -> dict[str, Any]:
    """Return a queue with its counts."""
    return {
        "name": queue.name,
        "paused_at": _moment(queue.paused_at),
        "pending": queue.pending,
        "due": queue.due,
        "running": queue.running,
    }


def lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return NDJSON."""
    return b"".join(encoded(row) + b"\n" for row in rows)


def _stored(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else instant(moment)


def _seconds(duration: timedelta | None) -> float | int | None:
    if duration is None:
        return None
    seconds = duration.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds
