"""The log itself: I1 (seq), I3 (order and clock), I4 (only moves of the transition table)."""

from ..event import IMPLIED, JobEvent
from ..transitions import MOVES
from ..vocabulary import TERMINAL, CommandName, State
from ..vocabulary import EventName as Name
from .course import Course
from .inquiry import Inquiry

COMMANDS = {
    Name.FAILED: frozenset({CommandName.FAIL, CommandName.TIMEOUT, CommandName.SNOOZE, CommandName.RELEASE}),
    Name.CANCELLED: frozenset({CommandName.CANCEL, CommandName.CONFIRM_CANCEL}),
    **{name: frozenset({None, command}) for name, command in IMPLIED.items()},
}
"""The commands that an event may name as its cause."""


def check_order(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I1, I3: the event follows its predecessor, and lies in the past. After a gap nothing else can be judged."""
    if event.seq != course.seq + 1:
        inquiry.add("I1", event, f"seq {event.seq} follows {course.seq}")
        course.whole = False
    elif (event.name is Name.ENQUEUED) is not (event.seq == 1):
        inquiry.add(
            "I1", event, f"{event.name} cannot have seq {event.seq}: enqueued is the first, only once"
        )
        course.whole = False
    at, position = event.at, event.position
    if at > inquiry.known.clock:
        inquiry.doubt("I3", event, f"at {at} is in the future", lambda known: at <= known.clock)
    if course.at is not None and at < course.at:
        inquiry.step(event, course.at)
    if position is not None and course.position is not None and position <= course.position:
        inquiry.add("I3", event, f"position {position} does not grow: {course.position} came before")


def check_birth(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4, I25: a job begins pending, with no attempt and no failure, and somebody submitted it."""
    if (event.state, event.attempt, event.failures) != (State.PENDING, 0, 0):
        inquiry.add("I4", event, f"born {event.state}, attempt {event.attempt}, failures {event.failures}")
    if event.run_at is None:
        inquiry.add("I4", event, "enqueued without run_at")
    if not event.actor:
        inquiry.add("I25", event, "enqueued by nobody")


def check_move(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4, I15: the transition table has this move, by this command."""
    name, state = event.name, event.state
    if (course.state, name, state) not in MOVES:
        inquiry.add("I4", event, f"no rule moves a {course.state} job to {state} by {name}")
        if course.state in TERMINAL and name is not Name.REQUEUED:
            inquiry.add("I15", event, f"{name} after {course.state}")
    elif event.command not in COMMANDS[name]:
        inquiry.add("I4", event, f"{name} is not caused by {event.command}")
    if (event.run_at is None) is (state is State.PENDING):
        inquiry.add("I4", event, f"{state} with run_at {event.run_at}")


def check_unknown(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: this version knows no such event."""
    inquiry.add("I4", event, f"no event is called {event.name!s}")
