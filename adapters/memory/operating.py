"""Operations and other commands on rows that nobody else has locked."""

from collections.abc import Iterable
from datetime import datetime

from ...domain.commands import Command, Operation
from ...domain.decide import Refusal, decide
from ...domain.job import Job
from ...domain.vocabulary import Verdict
from .database import MemoryDatabase


def operate(
    database: MemoryDatabase, job_ids: Iterable[int], operation: Operation, now: datetime
) -> dict[int, Verdict]:
    """Apply an operation in job_id order; a locked row is busy."""
    return {job_id: _operate(database, job_id, operation, now) for job_id in sorted(set(job_ids))}


def apply(database: MemoryDatabase, job: Job | None, command: Command, now: datetime) -> Verdict:
    """Write the event that a command leads to, if any."""
    decision = decide(job, command, now)
    if isinstance(decision, Refusal):
        return decision.verdict
    database.append(decision)
    return Verdict.ACCEPTED


def _operate(database: MemoryDatabase, job_id: int, operation: Operation, now: datetime) -> Verdict:
    job = database.jobs.get(job_id)
    if job is not None and database.is_locked(job_id):
        return Verdict.BUSY
    return apply(database, job, operation, now)
