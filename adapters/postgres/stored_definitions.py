"""Definitions and timings as they lie in rows: read strictly, so that none of them breaks a round with others.

Somebody may have edited one by hand, or a newer version may have written what this one does not know. It is read all
the same, as one that only stands in, with what is wrong; what must hold is what makes a job that can be inserted.
"""

from datetime import datetime
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Meta

from ...domain import schedule_facts
from ...domain.errors import InvalidInput
from ...domain.limits import DURATION_MAX
from ...domain.retry import microseconds
from ...domain.schedule import Definition, Timing
from .errors import words

_Moment = Annotated[str, Meta(pattern="Z$")]
_Wait = Annotated[int, Meta(ge=0, le=microseconds(DURATION_MAX))]
_Span = Annotated[int, Meta(gt=0, le=microseconds(DURATION_MAX))]


class _Timing(TypedDict):
    cron: str
    tz: str
    dst: str
    starts_at: _Moment
    ends_at: _Moment | None
    jitter_us: _Wait


class _Job(TypedDict):
    type: str
    queue: str
    priority: Annotated[int, Meta(ge=0, le=9)]
    max_attempts: Annotated[int, Meta(ge=1, lt=2**31)]
    timeout_us: _Span | None
    lease_us: _Span
    retry: dict[str, Any]
    effect_key: str | None


class _Definition(_Timing):
    missed: str
    catchup_window_us: _Wait | None
    overlap: str
    pause_on_failure: bool
    job: _Job


_definition = msgspec.json.Decoder(_Definition).decode
_timing = msgspec.json.Decoder(_Timing).decode
_WRONG = (ArithmeticError, LookupError, TypeError, ValueError, InvalidInput)


def definition(stored: str, payload: str, created_at: datetime) -> Definition:
    """Return the definition of a row, or what stands in for one that nobody can read."""
    try:
        return schedule_facts.restore(_definition(stored), payload)
    except _WRONG as error:
        return schedule_facts.unknown(created_at, words(error))


def timing(stored: str, start: datetime) -> Timing:
    """Return the timing of a row, or what stands in for one that nobody can read."""
    try:
        return schedule_facts.restore_timing(_timing(stored))
    except _WRONG as error:
        return schedule_facts.unknown_timing(start, words(error))
