"""Options of a job type and of one submit, as people write them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict

from ...application.submitting import Unique
from ...domain.durations import Duration, duration
from ...domain.errors import InvalidInput
from ...domain.retry import Constant, Delays, Exponential, RetryPolicy

Retry: TypeAlias = RetryPolicy | Duration | Sequence[Duration]
"""A policy; a duration means that constant wait, a list means these waits one after the other."""


class TypeOptions(TypedDict, total=False):
    """What a job type fixes and a submit may override."""

    queue: str
    priority: int
    max_attempts: int
    timeout: Duration | None
    lease: Duration
    retry: Retry
    unique: Unique | bool | None


class SubmitOptions(TypeOptions, total=False):
    """What only one submit can say."""

    run_at: datetime | None
    delay: Duration | None
    key: str | None
    effect_key: str | None
    tx: object
    actor: str | None
    request_id: str | None
    reason: str | None


class ScheduleOptions(TypedDict, total=False):
    """When it fires, and what happens when that is hard to keep; the job's own options come from the job type."""

    tz: str
    dst: Literal["vixie", "wall"]
    starts_at: datetime | None
    ends_at: datetime | None
    jitter: Duration
    missed: Literal["all", "latest", "skip"]
    catchup_window: Duration | None
    overlap: Literal["allow", "skip", "queue_one", "cancel_running"]
    pause_on_failure: bool


CALL = ("tx", "actor", "request_id", "reason")
"""Options that are not the job's but the call's: which transaction, and the paper trail."""


def job_fields(options: Mapping[str, Any], known: type[Any] = SubmitOptions) -> dict[str, Any]:
    """Return the fields of a SubmitRequest that the options fix; raises InvalidInput, also for unknown options."""
    if unknown := options.keys() - known.__optional_keys__:
        raise InvalidInput(min(unknown), "is not an option here")
    fields = {name: value for name, value in options.items() if name not in CALL}
    for name in ("timeout", "lease", "delay"):
        if fields.get(name) is not None:
            fields[name] = duration(name, fields[name])
    if "retry" in fields:
        fields["retry"] = _policy(fields["retry"])
    if "unique" in fields:
        fields["unique"] = _unique(fields["unique"])
    return fields


def _policy(retry: object) -> RetryPolicy:
    if isinstance(retry, Exponential | Constant | Delays):
        return retry
    if isinstance(retry, Sequence) and not isinstance(retry, str | bytes | bytearray):
        return Delays(tuple(duration("retry", delay) for delay in retry))
    return Constant(duration("retry", retry))


def _unique(unique: object) -> Unique | None:
    if unique is None or isinstance(unique, Unique):
        return unique
    if isinstance(unique, bool):
        return Unique() if unique else None
    raise InvalidInput("unique", "must be True or Unique(...)")
