"""The write side of jobs: every method is one transaction that changes rows and appends their events together."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from attrs import frozen

from ...domain.commands import Operation, Origin, Report
from ...domain.token import Token
from ...domain.vocabulary import Verdict


@frozen(kw_only=True)
class ClaimRequest:
    """Ask for at most ``limit`` due jobs of ``queue`` whose type is one of ``types``; the actor is the worker."""

    queue: str
    types: frozenset[str]
    limit: int
    claim_id: str
    origin: Origin


class ClaimedJob(NamedTuple):
    """What a worker needs to run one attempt; ``payload`` is JSON text, not yet decoded."""

    token: Token
    type: str
    queue: str
    payload: str | None
    failures: int
    max_attempts: int
    timeout: timedelta | None
    lease: timedelta
    effect_key: str | None
    run_at: datetime
    scheduled_for: datetime | None = None


@frozen
class Claimed:
    """The answer to a claim: the jobs in claim order, and how long until asking again may find more without a wake-up.

    ``next_due_in`` is measured on the database's clock, and counts from when the claim was sent: the next one, sent so
    long after it, takes as long to get there. None when no later job is known, or as many jobs as were asked for were
    claimed.
    """

    jobs: Sequence[ClaimedJob]
    next_due_in: timedelta | None = None
    open: bool = True
    """Whether the queue exists and is not paused."""


@frozen
class LeaseAnswer:
    """The answer to a heartbeat: ``busy`` means the row was locked and the lease was not extended this time."""

    verdict: Verdict
    cancel_requested: bool = False


class JobStore(Protocol):
    """Claims, fenced reports, heartbeats, reaping and operations.

    Every method raises Unavailable when nothing was changed, and UnknownOutcome when the reply to COMMIT was lost.
    """

    async def claim(self, request: ClaimRequest) -> Claimed:
        """Move due pending jobs of an unpaused queue to running, in the order priority DESC, run_at, job_id.

        Rows locked by others are passed over.
        """
        ...

    async def claimed_by(self, claim_id: str) -> Sequence[ClaimedJob]:
        """Return the jobs still running under one claim call: what an unknown outcome turned out to be."""
        ...

    async def report(self, reports: Sequence[Report]) -> Sequence[Verdict]:
        """Apply reports, at most one per job, and answer each in the order given.

        ``accepted``; ``busy``, the row is locked, ask again; ``already_applied``, the same command ended this attempt
        before; ``refused``, the token opens nothing (leaves one ``report_refused`` if it was ever granted);
        ``gone``, there is no such job.
        """
        ...

    async def heartbeat(self, tokens: Sequence[Token]) -> Sequence[LeaseAnswer]:
        """Extend leases to now + lease, never backwards; ``accepted``, ``busy`` or ``refused`` (the lease is lost)."""
        ...

    async def reap(self, limit: int, draws: Sequence[float]) -> int:
        """Expire at most ``limit`` lapsed leases and return how many; ``draws`` spreads their backoff, one each."""
        ...

    async def operate(self, job_ids: Sequence[int], operation: Operation) -> Sequence[Verdict]:
        """Apply one operation to several jobs and answer each in the order given; a locked row is ``busy``."""
        ...
