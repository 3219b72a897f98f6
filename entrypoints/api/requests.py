"""Jobs in requests: from a JSON object to a SubmitRequest."""

from collections.abc import Mapping
from typing import Any

from ...application.submitting import SubmitRequest, Unique
from ...domain.durations import duration
from ...domain.errors import InvalidInput
from ...domain.limits import MAX_ATTEMPTS_LIMIT
from ...domain.retry import Constant, Delays, Exponential, RetryPolicy
from ...domain.values import check_integer, check_key, check_name, check_priority
from .fields import Reader, durations, json_list, json_object, nullable, read, switch
from .moments import moment

POLICIES: Mapping[str, tuple[type[RetryPolicy], Mapping[str, Reader], tuple[str, ...]]] = {
    "exponential": (Exponential, {"base": duration, "cap": duration}, ()),
    "constant": (Constant, {"delay": duration}, ("delay",)),
    "delays": (Delays, {"delays": durations}, ("delays",)),
}


def policy(field: str, value: object) -> RetryPolicy:
    """Read a retry policy; raises InvalidInput."""
    given = json_object(field, value)
    name = given.get("policy")
    if not isinstance(name, str) or name not in POLICIES:
        raise InvalidInput(f"{field}.policy", f"must be one of {', '.join(POLICIES)}")
    build, readers, required = POLICIES[name]
    options = read(field, {key: item for key, item in given.items() if key != "policy"}, readers, required)
    return build(**options)


def _names(field: str, value: object) -> tuple[str, ...]:
    names = json_list(field, value)
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise InvalidInput(field, "must be text", (index,))
    return tuple(names)


def unique(field: str, value: object) -> Unique | None:
    """Read unique options: true takes all defaults, false means none. Raises InvalidInput."""
    if isinstance(value, bool):
        return Unique() if value else None
    if not isinstance(value, dict):
        raise InvalidInput(field, "must be true, false or a JSON object")
    readers = {"fields": _names, "period": duration, "across_queues": switch}
    return Unique(**read(field, value, readers))


SINGLE: Mapping[str, Reader] = {
    "type": check_name,
    "payload": json_object,
    "queue": check_name,
    "priority": check_priority,
    "run_at": moment,
    "delay": duration,
    "max_attempts": lambda field, value: check_integer(field, value, 1, MAX_ATTEMPTS_LIMIT),
    "timeout": nullable(duration),
    "lease": duration,
    "retry": policy,
    "effect_key": check_key,
    "unique": unique,
}
ITEM: Mapping[str, Reader] = {**SINGLE, "key": check_key}
"""In a batch each job may carry its own submit key; a single one has the header."""


def submit_request(value: object, readers: Mapping[str, Reader], **more: Any) -> SubmitRequest:
    """Return one job as it is asked for; raises InvalidInput."""
    return SubmitRequest(**read("", value, readers, ("type",)), **more)
