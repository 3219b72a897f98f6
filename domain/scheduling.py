"""The rules that a schedule must meet before anything is written, and the one form in which it is written."""

from datetime import timedelta

from attrs import evolve

from .errors import InvalidInput
from .facts import instant
from .job import Specification
from .limits import DURATION_MAX, EARLIEST, PAYLOAD_BYTES
from .schedule import MISSED_AFTER, Definition, Policies, Timing, first_fire_time
from .submission import check_specification
from .values import check_duration, check_moment, decode, encode

JITTER_MAX = timedelta(days=1)


def check_definition(definition: Definition) -> Definition:
    """Return a definition as it is stored: texts that mean the same are the same.

    Raises InvalidInput naming the field and the rule.
    """
    check_policies(definition.policies)
    return evolve(
        definition, timing=check_timing(definition.timing), template=check_template(definition.template)
    )


def check_timing(timing: Timing) -> Timing:
    """Return when it fires, with the expression in its canonical form; raises InvalidInput."""
    for field in ("starts_at", "ends_at"):
        if (moment := getattr(timing, field)) is not None:
            check_moment(field, moment)
    check_duration("jitter", timing.jitter, most=JITTER_MAX)
    started = timing.starting(EARLIEST)
    check_room(started)
    return evolve(timing, cron=started.recurrence.expression)


def check_room(timing: Timing, start: str = "starts_at") -> None:
    """Check that there is a fire time between the start, which must be known, and the end.

    Raises InvalidInput; ``start`` is what people know the start as.
    """
    if timing.ends_at is not None and timing.ends_at <= timing.start:
        raise InvalidInput("ends_at", f"must be later than {start}, {instant(timing.start)}")
    if first_fire_time(timing, timing.start - timedelta(microseconds=1)) is None:
        field = "starts_at" if timing.ends_at is None else "ends_at"
        raise InvalidInput(field, f"must leave room for a fire time between {start} and ends_at")


def check_policies(policies: Policies) -> None:
    """Check what happens when it is late; raises InvalidInput."""
    if policies.catchup_window is not None:
        check_duration("catchup_window", policies.catchup_window, MISSED_AFTER, DURATION_MAX)


def check_template(template: Specification) -> Specification:
    """Return what each job is like, with the payload in compact JSON; raises InvalidInput."""
    check_specification(template)
    for field in ("effect_key", "scheduled_for"):
        if getattr(template, field) is not None:
            raise InvalidInput(field, "must not be given: each firing has one of its own")
    payload = decode("payload", template.payload or "")
    if not isinstance(payload, dict):
        raise InvalidInput("payload", "must be a JSON object")
    return evolve(template, payload=encode("payload", payload, PAYLOAD_BYTES))
