"""Commands: what is asked of a job, by whom and why. Data only; ``decide`` judges them."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar, NamedTuple

from attrs import frozen

from .job import Specification
from .retry import microseconds
from .token import Token
from .vocabulary import CommandName

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Origin:
    """Who asks: an actor such as ``worker:…``, ``api:…``, ``reaper`` or ``user:…``, and the paper trail."""

    actor: str
    request_id: str | None = None
    reason: str | None = None
    build: str | None = None


@frozen
class JobError:
    """Why an attempt failed; ``type`` is an exception's name or a word of ours such as ``timeout``."""

    type: str
    message: str = ""
    traceback: str | None = None


class HandlerTimes(NamedTuple):
    """When the handler started (worker's clock, informative only) and how long it ran.

    Whole microseconds, counted from 1970 on: what each report carries is not worth objects that are taken apart again.
    """

    started_us: int
    ran_us: int

    @classmethod
    def of(cls, started_at: datetime, ran: timedelta) -> "HandlerTimes":
        """Return what a moment and a duration come to."""
        return cls(microseconds(started_at - _EPOCH), microseconds(ran))

    @property
    def started_at(self) -> datetime:
        """The start, in UTC."""
        return _EPOCH + timedelta(microseconds=self.started_us)

    @property
    def ran(self) -> timedelta:
        """The duration."""
        return timedelta(microseconds=self.ran_us)


@frozen(kw_only=True)
class Command:
    """What every command carries."""

    name: ClassVar[CommandName]
    origin: Origin


@frozen(kw_only=True)
class Submit(Command):
    """Accept a job; ``run_at`` None means now, ``delay`` counts from now on the database's clock."""

    name = CommandName.SUBMIT
    specification: Specification
    run_at: datetime | None = None
    delay: timedelta | None = None


@frozen(kw_only=True)
class Claim(Command):
    """Take the lease; the actor is the worker."""

    name = CommandName.CLAIM
    claim_id: str


@frozen(kw_only=True)
class Report(Command):
    """A command of the lease's holder; ``draw`` in [0, 1) is used only when a backoff has to be spread."""

    token: Token
    draw: float = 0.0
    times: HandlerTimes | None = None


@frozen(kw_only=True)
class Succeed(Report):
    """The handler returned; ``result`` is JSON text or None."""

    name = CommandName.SUCCEED
    result: str | None = None


@frozen(kw_only=True)
class Fail(Report):
    """The handler raised; ``retry_in`` overrides the policy's wait."""

    name = CommandName.FAIL
    error: JobError
    retry_in: timedelta | None = None


@frozen(kw_only=True)
class Timeout(Report):
    """The handler ran longer than the job's timeout."""

    name = CommandName.TIMEOUT
    error: JobError = JobError("timeout")


@frozen(kw_only=True)
class Discard(Report):
    """The handler says that retrying is useless."""

    name = CommandName.DISCARD
    error: JobError


@frozen(kw_only=True)
class Snooze(Report):
    """The handler asks to be run again after ``delay``."""

    name = CommandName.SNOOZE
    delay: timedelta


@frozen(kw_only=True)
class Release(Report):
    """The worker hands the job back unfinished: a graceful stop, or contact was lost."""

    name = CommandName.RELEASE


@frozen(kw_only=True)
class ConfirmCancel(Report):
    """The handler stopped because a cancel was requested."""

    name = CommandName.CONFIRM_CANCEL


@frozen(kw_only=True)
class Expire(Command):
    """The reaper ends a lapsed lease."""

    name = CommandName.EXPIRE
    draw: float = 0.0


@frozen(kw_only=True)
class Cancel(Command):
    """Cancel a pending job, or ask a running one to stop."""

    name = CommandName.CANCEL


@frozen(kw_only=True)
class Revoke(Command):
    """End a lease at once, by force; ``cancel`` also cancels the job."""

    name = CommandName.REVOKE
    cancel: bool = False


@frozen(kw_only=True)
class Requeue(Command):
    """Put a finished job back; a new ``payload`` is optional.

    ``fresh_effect_key`` None keeps the effect key, but must be chosen for a job that has succeeded.
    """

    name = CommandName.REQUEUE
    payload: str | None = None
    fresh_effect_key: bool | None = None


@frozen(kw_only=True)
class Edit(Command):
    """Change a pending job; None leaves a field as it is."""

    name = CommandName.EDIT
    run_at: datetime | None = None
    priority: int | None = None
    queue: str | None = None
    payload: str | None = None


@frozen(kw_only=True)
class Dismiss(Command):
    """Hide a dead job from the worklist."""

    name = CommandName.DISMISS


Operation = Cancel | Revoke | Requeue | Edit | Dismiss
