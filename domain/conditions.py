"""The guards' vocabulary: facts about a job, a command and the clock.

Each condition has one meaning and two renderings: the predicate here, and the SQL expression of the PostgreSQL
adapter, which a contract suite holds against each other.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum

from . import commands as c
from .job import Job
from .limits import IDLE_RETURNS


class Condition(StrEnum):
    """A fact that a rule of the transition table requires to hold, or not to hold."""

    DUE = "due"
    TOKEN = "token"  # noqa: S105 - a fencing token, not a password
    LAPSED = "lapsed"
    CANCEL_REQUESTED = "cancel_requested"
    CANCEL_WANTED = "cancel_wanted"
    SPENT = "spent"
    IDLE_CAPPED = "idle_capped"
    FIRST_EXPIRY = "first_expiry"
    EFFECT_KEY_CHOSEN = "effect_key_chosen"
    DISMISSED = "dismissed"


Predicate = Callable[[Job, c.Command, datetime], bool]


PREDICATES: Mapping[Condition, Predicate] = {
    Condition.DUE: lambda job, command, now: job.run_at <= now,
    Condition.TOKEN: lambda job, command, now: isinstance(command, c.Report) and command.token == job.token,
    Condition.LAPSED: lambda job, command, now: (
        job.lease_expires_at is not None and job.lease_expires_at < now
    ),
    Condition.CANCEL_REQUESTED: lambda job, command, now: job.cancel_requested,
    Condition.CANCEL_WANTED: lambda job, command, now: (
        job.cancel_requested or (isinstance(command, c.Revoke) and command.cancel)
    ),
    Condition.SPENT: lambda job, command, now: job.failures + 1 >= job.max_attempts,
    Condition.IDLE_CAPPED: lambda job, command, now: job.idle_returns >= IDLE_RETURNS,
    Condition.FIRST_EXPIRY: lambda job, command, now: job.expiries == 0,
    Condition.EFFECT_KEY_CHOSEN: lambda job, command, now: (
        isinstance(command, c.Requeue) and command.fresh_effect_key is not None
    ),
    Condition.DISMISSED: lambda job, command, now: job.dismissed,
}
