"""The words of the state machine: states, commands, events and verdicts."""

from enum import StrEnum
from typing import Self


class State(StrEnum):
    """Where a job is now; the last three are terminal."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


TERMINAL = frozenset({State.SUCCEEDED, State.DEAD, State.CANCELLED})


class CommandName(StrEnum):
    """What somebody asks of a job."""

    SUBMIT = "submit"
    CLAIM = "claim"
    SUCCEED = "succeed"
    FAIL = "fail"
    TIMEOUT = "timeout"
    DISCARD = "discard"
    SNOOZE = "snooze"
    RELEASE = "release"
    CONFIRM_CANCEL = "confirm_cancel"
    EXPIRE = "expire"
    CANCEL = "cancel"
    REVOKE = "revoke"
    REQUEUE = "requeue"
    EDIT = "edit"
    DISMISS = "dismiss"


REPORTS = frozenset(
    {
        CommandName.SUCCEED,
        CommandName.FAIL,
        CommandName.TIMEOUT,
        CommandName.DISCARD,
        CommandName.SNOOZE,
        CommandName.RELEASE,
        CommandName.CONFIRM_CANCEL,
    }
)
"""Commands of a lease's holder: only its token opens them."""

OPERATIONS = frozenset(
    {
        CommandName.CANCEL,
        CommandName.REVOKE,
        CommandName.REQUEUE,
        CommandName.EDIT,
        CommandName.DISMISS,
    }
)
"""Commands of people and programs outside the worker plane."""


class _Open(StrEnum):
    """Names of events: a reader of an older version must be able to show those that a newer one wrote.

    ``EventName("text")`` therefore never fails; a name that is not a member equals none of them.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = unknown._value_ = value
        return unknown

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Self], tuple[str]]:
        """Pickle by value: early releases of Python 3.11 do it by name, which an unknown one does not have."""
        return self.__class__, (self._value_,)


class EventName(_Open):
    """What happened to a job; the column ``name`` of ``job_events``."""

    ENQUEUED = "enqueued"
    CLAIMED = "claimed"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DIED = "died"
    SNOOZED = "snoozed"
    RELEASED = "released"
    LEASE_EXPIRED = "lease_expired"
    CANCEL_REQUESTED = "cancel_requested"
    CANCELLED = "cancelled"
    REVOKED = "revoked"
    REQUEUED = "requeued"
    EDITED = "edited"
    DISMISSED = "dismissed"


class ControlEventName(_Open):
    """What happened beside single jobs; the column ``name`` of ``control_events``."""

    REPORT_REFUSED = "report_refused"
    QUEUE_PAUSING = "queue_pausing"
    QUEUE_PAUSED = "queue_paused"
    QUEUE_RESUMED = "queue_resumed"
    SCHEDULE_CREATED = "schedule_created"
    SCHEDULE_EDITED = "schedule_edited"
    SCHEDULE_PAUSED = "schedule_paused"
    SCHEDULE_RESUMED = "schedule_resumed"
    SCHEDULE_DELETED = "schedule_deleted"
    SCHEDULE_TRIGGERED = "schedule_triggered"
    SCHEDULE_BACKFILL_STARTED = "schedule_backfill_started"
    SCHEDULE_BACKFILL_ENDED = "schedule_backfill_ended"
    SCHEDULE_DECLARED = "schedule_declared"
    PAYLOAD_ERASED = "payload_erased"
    JOBS_PRUNED = "jobs_pruned"


class Verdict(StrEnum):
    """The answer to one command on one job."""

    ACCEPTED = "accepted"
    BUSY = "busy"
    ALREADY_APPLIED = "already_applied"
    REFUSED = "refused"
    GONE = "gone"
