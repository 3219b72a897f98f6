"""Which way a move goes: I4 in its finer part, I15 and I18 as far as they choose the state after an event."""

from ..event import JobEvent
from ..vocabulary import CommandName, State
from .course import Course
from .inquiry import Inquiry


def check_failed(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4, I18: a failed attempt ends cancelled if that was requested, else dead if spent, else pending."""
    _check_cancelled(course, event, inquiry)
    spent = course.failures + 1 >= course.max_attempts
    undisturbed = course.cancel_requested_at is None and event.state is not State.CANCELLED
    if undisturbed and (event.state is State.DEAD) is not spent:
        inquiry.add("I18", event, f"{event.state} after {course.failures + 1} of {course.max_attempts}")


def check_returned(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a returned attempt ends cancelled if that was requested, else pending."""
    _check_cancelled(course, event, inquiry)


def _check_cancelled(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    if (event.state is State.CANCELLED) is (course.cancel_requested_at is None):
        asked = "not requested" if course.cancel_requested_at is None else "requested"
        inquiry.add("I4", event, f"{event.name} leaves the job {event.state}, but a cancel was {asked}")


def check_revoked(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: revoking cancels when a cancel was requested (it may do so otherwise, too)."""
    if course.cancel_requested_at is not None and event.state is not State.CANCELLED:
        inquiry.add("I4", event, f"revoked to {event.state}, but a cancel was requested")


def check_cancelled(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a pending job is cancelled outright, a running one only by its holder after a request."""
    confirmed = event.command is CommandName.CONFIRM_CANCEL
    if confirmed is not (course.state is State.RUNNING):
        inquiry.add("I4", event, f"{event.command} ended a {course.state} job")
    if confirmed and course.cancel_requested_at is None:
        inquiry.add("I4", event, "confirms a cancel that nobody requested")


def check_cancel_request(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a cancel is requested once."""
    if course.cancel_requested_at is not None:
        inquiry.add("I4", event, "a cancel was requested before")


def check_dismissal(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a dead job is dismissed once."""
    if course.dismissed:
        inquiry.add("I4", event, "dismissed before")


def check_requeue(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I15: only an operator puts a finished job back."""
    if event.actor == "reaper" or event.actor.startswith("worker:"):
        inquiry.add("I15", event, f"requeued by {event.actor}")
