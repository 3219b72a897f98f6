"""The lease and its fence: I8 to I13."""

from datetime import timedelta

from ..event import JobEvent
from ..vocabulary import CommandName, State
from .course import Course
from .inquiry import Inquiry

_NOTHING = timedelta(0)


def check_claim(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I8, I9, I12, I13: a claim takes a pending, due job, grants the next attempt and the job's own lease."""
    if course.state is not State.PENDING:
        inquiry.add("I9", event, f"claimed a {course.state} job")
    if event.attempt != course.attempt + 1:
        inquiry.add("I8", event, f"attempt {event.attempt} granted after {course.attempt}")
    if not event.claim_id:
        inquiry.add("I9", event, "claimed without a claim_id")
    if course.run_at is not None and event.at < course.run_at:
        inquiry.add("I13", event, f"claimed {course.run_at - event.at} before run_at")
    if event.lease_expires_at != event.at + course.lease:
        inquiry.add("I12", event, f"the lease granted is not {course.lease}")


def check_token(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I10: whoever reports holds the open lease."""
    if event.attempt != course.attempt or event.claim_id is None or event.claim_id != course.claim_id:
        inquiry.add(
            "I10",
            event,
            f"{event.name} for attempt {event.attempt} of claim {event.claim_id}, open is "
            f"attempt {course.attempt} of claim {course.claim_id}",
        )


def check_bystander(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I8, I10: who holds no lease leaves the attempt alone, and names the lease that is open, if any."""
    if event.attempt != course.attempt:
        inquiry.add("I8", event, f"attempt {course.attempt} became {event.attempt} by {event.name}")
    if event.claim_id != course.claim_id:
        inquiry.add("I10", event, f"names claim {event.claim_id}, open is {course.claim_id}")


def check_canceller(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I8, I10: only who confirms a cancel holds the lease."""
    confirmed = event.command is CommandName.CONFIRM_CANCEL
    (check_token if confirmed else check_bystander)(course, event, inquiry)


def check_ending(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I12: the lease in force at an ending is the granted one, or a later one if there were heartbeats."""
    granted, in_force, heartbeats = course.granted, event.lease_expires_at, event.heartbeats
    if granted is None:
        return
    if in_force is None or heartbeats is None or heartbeats < 0:
        inquiry.add("I12", event, "says nothing about the lease it ends")
    elif in_force < granted:
        inquiry.add("I12", event, f"the lease ended {granted - in_force} before it was granted to end")
    elif heartbeats == 0 and in_force != granted:
        inquiry.add("I12", event, "the lease grew without a heartbeat")


def check_expiry(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I11: the reaper ends a lease only after its deadline."""
    deadline = max((end for end in (course.granted, event.lease_expires_at) if end is not None), default=None)
    if deadline is not None and deadline - event.at >= _NOTHING:
        inquiry.add("I11", event, f"reaped {deadline - event.at} before the deadline")
