"""Queues and people: I37 (no claim from a paused queue), I38 (operations leave a paper trail)."""

from ..event import ControlEvent, JobEvent
from ..vocabulary import CommandName
from ..vocabulary import ControlEventName as Name
from .course import Course
from .inquiry import Inquiry, Violation

_OPERATIONS = frozenset(
    {
        Name.QUEUE_PAUSING,
        Name.QUEUE_PAUSED,
        Name.QUEUE_RESUMED,
        Name.SCHEDULE_CREATED,
        Name.SCHEDULE_EDITED,
        Name.SCHEDULE_DECLARED,
        Name.SCHEDULE_PAUSED,
        Name.SCHEDULE_RESUMED,
        Name.SCHEDULE_DELETED,
        Name.SCHEDULE_TRIGGERED,
        Name.SCHEDULE_BACKFILL_STARTED,
        Name.SCHEDULE_BACKFILL_ENDED,
    }
)


def check_pause(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I37: a claim lies outside its queue's pauses. An open pause may turn out to have ended meanwhile."""
    if not inquiry.known.pauses or event.position is None:
        return
    queue, position = course.queue, event.position
    if inquiry.known.paused(queue, position):
        inquiry.doubt(
            "I37", event, f"claimed while {queue} was paused", lambda known: not known.paused(queue, position)
        )


def check_operator(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I38: who did it, and by which request."""
    if not (event.actor and event.request_id) and event.command is not CommandName.CONFIRM_CANCEL:
        inquiry.add("I38", event, f"{event.name} by {event.actor or 'nobody'}, request {event.request_id}")


def check_control(event: ControlEvent, inquiry: Inquiry) -> None:
    """I38 for queues and schedules; a worker declares the schedules of its app at nobody's request."""
    asked = event.request_id or event.actor.startswith("worker:")
    if event.name in _OPERATIONS and not (event.actor and asked):
        what = f"{event.subject} {event.name} by {event.actor or 'nobody'}, request {event.request_id}"
        inquiry.note(Violation("I38", None, None, event.position, what))
