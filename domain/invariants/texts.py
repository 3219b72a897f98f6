"""Payloads and results: I6 (unaltered, as far as digests show), I7 (facts change only by an event that says so)."""

from collections.abc import Mapping
from typing import Any

from ..event import JobEvent
from ..facts import digest, instant_or_none
from .course import Course, changes
from .inquiry import Cleared, Inquiry
from .moments import moment

FACTS = (
    *("type", "queue", "priority", "max_attempts", "timeout_us", "lease_us", "retry", "effect_key"),
    "payload_digest",
)
"""What every ``enqueued`` event says of its job."""
_FACTS = frozenset(FACTS)


def check_submission(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I7: the whole specification is in the ``enqueued`` event; I6: the payload is the one that was submitted."""
    if not _readable(event.data):
        inquiry.add("I7", event, "the specification cannot be read")
        course.whole = False
        return
    check_text(event, event.payload, event.data["payload_digest"], inquiry)


def _readable(data: Mapping[str, Any]) -> bool:
    return (
        data.keys() >= _FACTS
        and isinstance(data["max_attempts"], int)
        and isinstance(data["lease_us"], int)
        and isinstance(data["timeout_us"], int | None)
        and isinstance(data["retry"], Mapping)
        and (data.get("scheduled_for") is None or moment(data["scheduled_for"]) is not None)
    )


def check_text(event: JobEvent, text: str | None, expected: str | None, inquiry: Inquiry) -> None:
    """I6: a text has its digest, unless it was erased."""
    if text is not None:
        if digest(text) != expected:
            inquiry.add("I6", event, "a text does not have the digest in data")
    elif expected is not None:
        job_id = event.job_id
        inquiry.doubt(
            "I6", event, "a text is missing but was not erased", lambda known: job_id in known.erased
        )


def check_result(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I6: the result is the one that was reported."""
    if event.result is not None or event.data:
        check_text(event, event.result, event.data.get("result_digest"), inquiry)


def check_no_payload(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I7: only ``enqueued``, ``edited`` and ``requeued`` carry a payload."""
    if event.payload is not None:
        inquiry.add("I7", event, f"{event.name} carries a payload")


def check_requeue_payload(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I6: a requeue's new payload is the one that was given."""
    check_text(event, event.payload, event.data.get("payload_digest"), inquiry)


def check_edit(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I7: an edit names the old value of each field it changes, and changes only what it names."""
    old, new = changes(event, "old"), changes(event)
    before = {
        "queue": course.queue,
        "priority": course.priority,
        "run_at": instant_or_none(course.run_at),
        "payload_digest": course.payload_digest,
    }
    if old.keys() != new.keys() or not new.keys() <= before.keys():
        inquiry.add("I7", event, f"changes {sorted(new)} but names {sorted(old)}")
        return
    for field, value in old.items():
        if value != before[field]:
            what = f"{field} was {before[field]}, not {value}"
            if (field, value) == ("payload_digest", None):  # an editor cannot know what was erased
                inquiry.doubt("I7", event, what, _if_erased(event.job_id))
            else:
                inquiry.add("I7", event, what)
    shown = instant_or_none(event.run_at)
    if shown != new.get("run_at", before["run_at"]):
        inquiry.add("I7", event, f"run_at becomes {shown} unsaid")
    check_text(event, event.payload, new.get("payload_digest"), inquiry)


def _if_erased(job_id: int) -> Cleared:
    return lambda known: job_id in known.erased
