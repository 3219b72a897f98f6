"""The write side of jobs: every rule is the domain's; here is only where rows lie and who is locked."""

from collections.abc import Sequence
from datetime import datetime

from ...application.ports.job_store import Claimed, ClaimedJob, ClaimRequest, LeaseAnswer
from ...domain.commands import Claim, Expire, Operation, Origin, Report
from ...domain.decide import matching_rule, renew
from ...domain.job import Job
from ...domain.limits import CANCEL_GRACE
from ...domain.token import Token
from ...domain.vocabulary import State, Verdict
from .database import MemoryDatabase
from .operating import apply, operate
from .reports import apply_reports

REAPER = Origin("reaper")


class MemoryJobStore:
    """Implements the port ``JobStore``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def claim(self, request: ClaimRequest) -> Claimed:
        """Claim in the order priority DESC, run_at, job_id; an unknown or paused queue gives nothing."""
        command = Claim(origin=request.origin, claim_id=request.claim_id)
        with self._database.transaction() as now:
            if not self._database.is_open(request.queue):
                return Claimed((), open=False)
            pending = [job for job in self._database.jobs.values() if _wanted(job, request)]
            due = [job for job in pending if matching_rule(job, command, now) and self._free(job)]
            taken = sorted(due, key=_claim_order)[: request.limit]
            later = [job.run_at - now for job in pending if job.run_at > now and len(taken) < request.limit]
            for job in taken:
                apply(self._database, job, command, now)
            jobs = [_claimed(self._database.jobs[job.job_id]) for job in taken]
            return Claimed(jobs, min(later, default=None))

    async def claimed_by(self, claim_id: str) -> Sequence[ClaimedJob]:
        """Return the jobs still running under one claim call, by job_id."""
        with self._database.transaction():
            return [_claimed(job) for job in self._database.jobs.values() if job.claim_id == claim_id]

    async def report(self, reports: Sequence[Report]) -> Sequence[Verdict]:
        """Apply reports, at most one per job."""
        with self._database.transaction() as now:
            return apply_reports(self._database, reports, now)

    async def heartbeat(self, tokens: Sequence[Token]) -> Sequence[LeaseAnswer]:
        """Renew leases; a token given twice is renewed once."""
        with self._database.transaction() as now:
            answers = {token: self._renew(token, now) for token in dict.fromkeys(tokens)}
        return [answers[token] for token in tokens]

    async def reap(self, limit: int, draws: Sequence[float]) -> int:
        """Expire lapsed leases in job_id order."""
        with self._database.transaction() as now:
            probe = Expire(origin=REAPER)
            jobs = (job for job in self._database.jobs.values() if job.state is State.RUNNING)
            lapsed = [job for job in jobs if self._free(job) and matching_rule(job, probe, now)][:limit]
            for job, draw in zip(lapsed, draws[: len(lapsed)], strict=True):
                apply(self._database, job, Expire(origin=REAPER, draw=draw), now)
            return len(lapsed)

    async def operate(self, job_ids: Sequence[int], operation: Operation) -> Sequence[Verdict]:
        """Apply one operation in job_id order; a job named twice is operated on once."""
        with self._database.transaction() as now:
            verdicts = operate(self._database, job_ids, operation, now)
        return [verdicts[job_id] for job_id in job_ids]

    def _free(self, job: Job) -> bool:
        return not self._database.is_locked(job.job_id)

    def _renew(self, token: Token, now: datetime) -> LeaseAnswer:
        job = self._database.jobs.get(token.job_id)
        if job is None:
            return LeaseAnswer(Verdict.REFUSED)
        if not self._free(job):
            return LeaseAnswer(Verdict.BUSY)
        renewed = renew(job, token, now, CANCEL_GRACE)
        if renewed is None:
            return LeaseAnswer(Verdict.REFUSED)
        self._database.jobs[token.job_id] = renewed
        return LeaseAnswer(Verdict.ACCEPTED, renewed.cancel_requested)


def _wanted(job: Job, request: ClaimRequest) -> bool:
    return job.state is State.PENDING and job.queue == request.queue and job.type in request.types


def _claim_order(job: Job) -> tuple[int, datetime, int]:
    return -job.priority, job.run_at, job.job_id


def _claimed(job: Job) -> ClaimedJob:
    assert job.token is not None
    return ClaimedJob(
        token=job.token,
        type=job.type,
        queue=job.queue,
        payload=job.payload,
        failures=job.failures,
        max_attempts=job.max_attempts,
        timeout=job.timeout,
        lease=job.lease,
        effect_key=job.effect_key,
        run_at=job.run_at,
        scheduled_for=job.scheduled_for,
    )
