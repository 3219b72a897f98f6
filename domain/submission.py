"""The rules a submit must meet before anything is written."""

from . import commands as c
from .errors import InvalidInput
from .job import Specification
from .limits import LEASE_MAX, LEASE_MIN, MAX_ATTEMPTS_LIMIT
from .values import (
    check_duration,
    check_integer,
    check_key,
    check_moment,
    check_name,
    check_priority,
    check_text,
)


def check_submit(command: c.Submit) -> None:
    """Check every field but the payload's inside, which is checked when it is encoded.

    Raises InvalidInput naming the field and the rule.
    """
    check_specification(command.specification)
    check_origin(command.origin)
    if command.run_at is not None and command.delay is not None:
        raise InvalidInput("delay", "must not be given together with run_at")
    if command.run_at is not None:
        check_moment("run_at", command.run_at)
    if command.delay is not None:
        check_duration("delay", command.delay)


def check_specification(specification: Specification) -> None:
    """Check what the submitter fixes; raises InvalidInput."""
    check_name("type", specification.type)
    check_name("queue", specification.queue)
    check_priority("priority", specification.priority)
    check_integer("max_attempts", specification.max_attempts, 1, MAX_ATTEMPTS_LIMIT)
    check_duration("lease", specification.lease, LEASE_MIN, LEASE_MAX)
    if specification.timeout is not None:
        check_duration("timeout", specification.timeout, LEASE_MIN / 100)
    if specification.effect_key is not None:
        check_key("effect_key", specification.effect_key)


def check_origin(origin: c.Origin) -> None:
    """Check the paper trail; raises InvalidInput."""
    for field in ("actor", "request_id", "reason", "build"):
        if (text := getattr(origin, field)) is not None:
            check_text(field, text)
