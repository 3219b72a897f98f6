"""A job as it is now: the row of ``jobs``, and the fold of its events."""

from datetime import datetime, timedelta

from attrs import frozen

from .limits import LEASE_DEFAULT, MAX_ATTEMPTS_DEFAULT, PRIORITY_DEFAULT, TIMEOUT_DEFAULT
from .retry import RETRY_DEFAULT, RetryPolicy
from .token import Token
from .vocabulary import TERMINAL, State


@frozen(kw_only=True)
class Specification:
    """What the submitter fixed: travels in the row and in the ``enqueued`` event.

    ``payload`` is JSON text of an object (None after it was erased); ``timeout`` None means no limit. ``scheduled_for``
    is the fire time that a schedule's job serves.
    """

    type: str
    payload: str | None = "{}"
    queue: str = "default"
    priority: int = PRIORITY_DEFAULT
    max_attempts: int = MAX_ATTEMPTS_DEFAULT
    timeout: timedelta | None = TIMEOUT_DEFAULT
    lease: timedelta = LEASE_DEFAULT
    retry: RetryPolicy = RETRY_DEFAULT
    effect_key: str | None = None
    scheduled_for: datetime | None = None


@frozen(kw_only=True)
class Job(Specification):
    """One unit of work; ``seq`` is the number of its last event."""

    job_id: int
    state: State
    run_at: datetime
    submitted_at: datetime
    seq: int = 1
    attempt: int = 0
    failures: int = 0
    expiries: int = 0
    idle_returns: int = 0
    worker: str | None = None
    claim_id: str | None = None
    lease_expires_at: datetime | None = None
    heartbeats: int = 0
    cancel_requested_at: datetime | None = None
    dismissed: bool = False
    result: str | None = None

    @property
    def cancel_requested(self) -> bool:
        """Whether somebody asked for this running job to stop."""
        return self.cancel_requested_at is not None

    @property
    def terminal(self) -> bool:
        """Whether only an operator's requeue can move the job on."""
        return self.state in TERMINAL

    @property
    def token(self) -> Token | None:
        """The token of the open lease, if there is one."""
        return Token(self.job_id, self.attempt, self.claim_id) if self.claim_id is not None else None


def derived_effect_key(job_id: int, seq: int | None = None) -> str:
    """Name the effect of a job whose submitter gave none; ``seq`` is that of a requeue that asked for a fresh one."""
    return f"job-{job_id}" if seq is None else f"job-{job_id}-{seq}"
