"""Events: one row of ``job_events`` or ``control_events``, as written and never changed."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from attrs import field, frozen

from .vocabulary import CommandName, ControlEventName, EventName, State

IMPLIED: Mapping[EventName, CommandName] = {
    EventName.ENQUEUED: CommandName.SUBMIT,
    EventName.CLAIMED: CommandName.CLAIM,
    EventName.SUCCEEDED: CommandName.SUCCEED,
    EventName.DIED: CommandName.DISCARD,
    EventName.SNOOZED: CommandName.SNOOZE,
    EventName.RELEASED: CommandName.RELEASE,
    EventName.LEASE_EXPIRED: CommandName.EXPIRE,
    EventName.CANCEL_REQUESTED: CommandName.CANCEL,
    EventName.REVOKED: CommandName.REVOKE,
    EventName.REQUEUED: CommandName.REQUEUE,
    EventName.EDITED: CommandName.EDIT,
    EventName.DISMISSED: CommandName.DISMISS,
}
"""The command behind an event whose name says it; ``failed`` and ``cancelled`` carry theirs."""


@frozen(kw_only=True)
class JobEvent:
    """One transition of one job.

    ``state`` and ``failures`` are those after it; ``attempt`` and ``claim_id`` as presented by the caller;
    ``run_at`` is set when the job is pending after it. ``lease_expires_at`` is the lease granted (``claimed``) or in
    force (an ending). ``heartbeats``, ``started_at`` and ``ran`` belong to endings. ``data`` holds JSON values.
    ``position`` is None until a store has assigned it.
    """

    job_id: int
    seq: int
    name: EventName
    command: CommandName | None = None
    at: datetime
    state: State
    attempt: int
    claim_id: str | None = None
    failures: int
    run_at: datetime | None = None
    lease_expires_at: datetime | None = None
    heartbeats: int | None = None
    started_at: datetime | None = None
    ran: timedelta | None = None
    actor: str
    request_id: str | None = None
    reason: str | None = None
    build: str | None = None
    data: Mapping[str, Any] = field(factory=dict)
    payload: str | None = None
    result: str | None = None
    position: int | None = None

    @property
    def caused_by(self) -> CommandName | None:
        """The command that caused it; None when this version does not know the event's name."""
        return self.command or IMPLIED.get(self.name)


@frozen(kw_only=True)
class ControlEvent:
    """One row of ``control_events``: what is not about one job's state, or is evidence beside it.

    ``subject`` is ``queue:<name>`` or ``job:<id>``.
    """

    subject: str
    name: ControlEventName
    at: datetime
    actor: str
    request_id: str | None = None
    reason: str | None = None
    data: Mapping[str, Any] = field(factory=dict)
    position: int | None = None
