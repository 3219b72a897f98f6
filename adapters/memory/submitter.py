"""Accepting jobs: keys are looked at first, so that a conflict leaves nothing behind."""

from collections.abc import Sequence
from datetime import datetime

from ...application.ports.submitter import Submission, SubmitKey, Submitted
from ...domain.decide import enqueue
from ...domain.errors import KeyConflict
from .database import MemoryDatabase, UniqueHold, UsedKey


class MemorySubmitter:
    """Implements the port ``Submitter``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def submit(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert all or nothing; a key's second use, also inside one batch, gets the first's answer."""
        with self._database.transaction() as now:
            self._refuse_conflicts(submissions, now)
            return [self._submit(submission, now) for submission in submissions]

    def _refuse_conflicts(self, submissions: Sequence[Submission], now: datetime) -> None:
        asked: dict[tuple[str, str, str], str] = {}
        for key in (submission.key for submission in submissions):
            if key is None:
                continue
            used = self._used(key, now)
            first = used.request_digest if used else asked.setdefault(_name(key), key.request_digest)
            if first != key.request_digest:
                raise KeyConflict(f"submit key {key.key!r} was used for another request")

    def _submit(self, submission: Submission, now: datetime) -> Submitted:
        if submission.key is not None and (used := self._used(submission.key, now)):
            return Submitted(used.job_id, created=False)
        held_by = self._holder(submission.unique_key, now)
        job_id = held_by or self._insert(submission, now)
        if submission.key is not None:
            expires_at = now + submission.key.life
            self._database.submit_keys[_name(submission.key)] = UsedKey(
                submission.key.request_digest, job_id, expires_at
            )
        return Submitted(job_id, created=held_by is None)

    def _insert(self, submission: Submission, now: datetime) -> int:
        event = enqueue(submission.command, self._database.next_job_id(), now)
        self._database.append(event)
        if submission.unique_key is not None:
            until = None if submission.unique_for is None else now + submission.unique_for
            self._database.unique_keys[submission.unique_key] = UniqueHold(event.job_id, until)
        return event.job_id

    def _used(self, key: SubmitKey, now: datetime) -> UsedKey | None:
        used = self._database.submit_keys.get(_name(key))
        return used if used is not None and used.expires_at > now else None

    def _holder(self, unique_key: str | None, now: datetime) -> int | None:
        hold = self._database.unique_keys.get(unique_key) if unique_key is not None else None
        if hold is None:
            return None
        holds = not self._database.jobs[hold.job_id].terminal if hold.until is None else hold.until > now
        return hold.job_id if holds else None


def _name(key: SubmitKey) -> tuple[str, str, str]:
    return key.principal, key.operation, key.key
