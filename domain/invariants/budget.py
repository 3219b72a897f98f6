"""Retry budget: I18 (what counts), I20 (what is free), I21 (how long it waits), I22 (what a requeue resets)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ..event import JobEvent
from ..limits import IDLE_RETURNS
from ..vocabulary import CommandName, State
from .course import Course
from .inquiry import Inquiry

_MICROSECOND = timedelta(microseconds=1)
_DOUBLINGS = 52
_FREE_COMMANDS = frozenset({CommandName.SNOOZE, CommandName.RELEASE})


def check_counted(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I18: a failed attempt counts exactly once, up to max_attempts."""
    if event.failures != course.failures + 1:
        inquiry.add("I18", event, f"failures went from {course.failures} to {event.failures}")
    elif event.failures > course.max_attempts:
        inquiry.add("I18", event, f"{event.failures} failures of {course.max_attempts}")


def check_uncounted(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I18: nothing else counts."""
    if event.failures != course.failures:
        inquiry.add("I18", event, f"failures went from {course.failures} to {event.failures} by {event.name}")


def check_free(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I20: snoozes and releases cost nothing, so many in a row at most."""
    if event.failures != course.failures:
        inquiry.add("I20", event, f"{event.name} took failures from {course.failures} to {event.failures}")
    if course.idle_returns >= IDLE_RETURNS:
        inquiry.add("I20", event, f"handed back free of charge more than {IDLE_RETURNS} times in a row")


def check_cap(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I20: a snooze or release counts as a failure only beyond the cap."""
    if event.command in _FREE_COMMANDS and course.idle_returns < IDLE_RETURNS:
        inquiry.add("I20", event, f"{event.command} was counted after {course.idle_returns} in a row")


def check_reset(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I22: a requeue resets failures and keeps the attempt."""
    if event.failures != 0:
        inquiry.add("I22", event, f"requeued with failures {event.failures}")
    if event.attempt != course.attempt:
        inquiry.add("I22", event, f"requeue took attempt from {course.attempt} to {event.attempt}")
    if event.claim_id is not None:
        inquiry.add("I10", event, f"names claim {event.claim_id}, none is open")


def check_backoff(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I21: after a failure the job waits as the handler said, else as the policy allows."""
    if event.state is not State.PENDING or event.run_at is None:
        return
    waited = (event.run_at - event.at) // _MICROSECOND
    given = event.data.get("retry_in_us")
    if given is not None:
        if waited != given or event.command is not CommandName.FAIL:
            inquiry.add("I21", event, f"waits {waited} µs by {event.command}, the handler said {given}")
        return
    least, most = _bounds(course.retry or {}, max(course.failures + 1, 1))
    if not least <= waited <= most:
        inquiry.add("I21", event, f"waits {waited} µs, the policy allows {least} to {most}")


def check_expiry_wait(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I21: a first expiry in a row waits for nothing, a further one for the policy."""
    if course.expiries > 0:
        check_backoff(course, event, inquiry)
    elif event.state is State.PENDING and event.run_at != event.at:
        inquiry.add("I21", event, "waits after a first expiry")


def check_snoozed(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a snooze waits from now on."""
    if event.run_at is not None and event.run_at < event.at:
        inquiry.add("I4", event, "snoozed into the past")


def check_kept(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a release leaves run_at as it was."""
    if event.run_at is not None and event.run_at != course.run_at:
        inquiry.add("I4", event, f"{event.name} moved run_at from {course.run_at} to {event.run_at}")


def check_now(course: Course, event: JobEvent, inquiry: Inquiry) -> None:
    """I4: a revoked or requeued job is due at once."""
    if event.run_at is not None and event.run_at != event.at:
        inquiry.add("I4", event, f"{event.name} made the job due at {event.run_at}, not at once")


def _bounds(retry: Mapping[str, Any], failures: int) -> tuple[int, int]:
    """Return the shortest and longest wait in microseconds; an impossible pair for a policy that cannot be read."""
    match retry:
        case {"policy": "exponential", "base_us": int(base), "cap_us": int(cap)}:
            return 0, min(cap, base << min(failures - 1, _DOUBLINGS))
        case {"policy": "constant", "delay_us": int(delay)}:
            return delay, delay
        case {"policy": "delays", "delays_us": [*delays]} if delays:
            delay = delays[min(failures, len(delays)) - 1]
            return delay, delay
        case _:
            return 1, 0
