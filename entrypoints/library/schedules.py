"""Schedules as programs declare them: checked where they are written down, long before they fire."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ...application.submitting import SubmitRequest
from ...domain.durations import duration
from ...domain.errors import InvalidInput
from ...domain.job import Specification
from ...domain.recurrence import Dst
from ...domain.schedule import Definition, Missed, Overlap, Policies, Timing
from ...domain.values import check_choice
from .options import ScheduleOptions

CHOICES: Mapping[str, type[StrEnum]] = {"dst": Dst, "missed": Missed, "overlap": Overlap}
POLICIES = ("missed", "catchup_window", "overlap", "pause_on_failure")
NOT_OF_A_FIRING = {
    "run_at": "must not be given: each job is due at its fire time",
    "delay": "must not be given: each job is due at its fire time",
    "key": "must not be given: no fire time is served twice",
    "unique": "must be None: `overlap` says what happens while a job of the schedule is unfinished",
    "effect_key": "must not be given: each firing has one of its own",
}


def defined(cron: str, template: Specification, options: Mapping[str, Any]) -> Definition:
    """Return the definition that options stand for; raises InvalidInput, also for unknown ones."""
    if unknown := options.keys() - ScheduleOptions.__optional_keys__:
        raise InvalidInput(min(unknown), "is not an option here")
    read = {name: _read(name, value) for name, value in options.items()}
    policies = {name: read.pop(name) for name in POLICIES if name in read}
    return Definition(timing=Timing(cron=cron, **read), template=template, policies=Policies(**policies))


def check_fits(request: SubmitRequest) -> SubmitRequest:
    """Return a request that a schedule may make again and again; raises InvalidInput for one meant to be made once."""
    for name, rule in NOT_OF_A_FIRING.items():
        if getattr(request, name) is not None:
            raise InvalidInput(name, rule)
    return request


def _read(name: str, value: object) -> Any:
    if name in CHOICES:
        return check_choice(name, value, CHOICES[name])
    if name == "jitter" or (name == "catchup_window" and value is not None):
        return duration(name, value)
    if name == "pause_on_failure" and not isinstance(value, bool):
        raise InvalidInput(name, "must be True or False")
    return value
