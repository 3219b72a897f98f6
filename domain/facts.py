"""A job's specification as the JSON values of its ``enqueued`` event, and back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from . import retry
from .job import Specification


def digest(text: str) -> str:
    """Return the SHA-256 of JSON text, in hexadecimal: stays in the history when the text is erased."""
    return sha256(text.encode()).hexdigest()


def instant(moment: datetime) -> str:
    """Return a moment as RFC 3339 in UTC with microseconds."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def instant_or_none(moment: datetime | None) -> str | None:
    """Return the same of a moment that may be none."""
    return None if moment is None else instant(moment)


def describe(specification: Specification) -> dict[str, Any]:
    """Return everything but the payload, which is represented by its digest; times in microseconds."""
    timeout, payload = specification.timeout, specification.payload
    described = {
        "type": specification.type,
        "queue": specification.queue,
        "priority": specification.priority,
        "max_attempts": specification.max_attempts,
        "timeout_us": None if timeout is None else retry.microseconds(timeout),
        "lease_us": retry.microseconds(specification.lease),
        "retry": retry.describe(specification.retry),
        "effect_key": specification.effect_key,
        "payload_digest": None if payload is None else digest(payload),
    }
    if specification.scheduled_for is not None:
        described["scheduled_for"] = instant(specification.scheduled_for)
    return described


def restore(data: Mapping[str, Any], payload: str | None) -> Specification:
    """Return the specification that ``describe`` wrote; ``payload`` travels beside the data."""
    timeout, scheduled_for = data["timeout_us"], data.get("scheduled_for")
    return Specification(
        type=data["type"],
        payload=payload,
        queue=data["queue"],
        priority=data["priority"],
        max_attempts=data["max_attempts"],
        timeout=None if timeout is None else timedelta(microseconds=timeout),
        lease=timedelta(microseconds=data["lease_us"]),
        retry=retry.restore(data["retry"]),
        effect_key=data["effect_key"],
        scheduled_for=None if scheduled_for is None else datetime.fromisoformat(scheduled_for),
    )
