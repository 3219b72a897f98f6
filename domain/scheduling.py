"""The rules that a schedule must meet before anything is written."""

from datetime import timedelta

from .errors import InvalidInput
from .limits import DURATION_MAX
from .schedule import MISSED_AFTER, Definition, Policies, Timing, first_fire_time
from .submission import check_specification
from .values import check_duration, check_moment

JITTER_MAX = timedelta(days=1)


def check_definition(definition: Definition) -> None:
    """Check every field but the payload's inside; raises InvalidInput naming the field and the rule."""
    check_timing(definition.timing)
    check_policies(definition.policies)
    check_specification(definition.template)
    if definition.template.effect_key is not None:
        raise InvalidInput("effect_key", "must not be given: each firing has one of its own")


def check_timing(timing: Timing) -> None:
    """Check when it fires, for which the expression is read; raises InvalidInput."""
    check_moment("starts_at", timing.starts_at)
    check_duration("jitter", timing.jitter, most=JITTER_MAX)
    if timing.ends_at is not None and check_moment("ends_at", timing.ends_at) <= timing.starts_at:
        raise InvalidInput("ends_at", "must be later than starts_at")
    if first_fire_time(timing, timing.starts_at - timedelta(microseconds=1)) is None:
        raise InvalidInput("ends_at", "must leave room for a fire time after starts_at")


def check_policies(policies: Policies) -> None:
    """Check what happens when it is late; raises InvalidInput."""
    if policies.catchup_window is not None:
        check_duration("catchup_window", policies.catchup_window, MISSED_AFTER, DURATION_MAX)
