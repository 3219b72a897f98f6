"""Accepting jobs: in a transaction of its own, or inside the caller's."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from attrs import frozen

from ...domain.commands import Submit
from ...domain.limits import SUBMIT_KEY_LIFE


@frozen
class SubmitKey:
    """Same key and same request: the first job's answer; same key, other request: a conflict.

    ``request_digest`` stands for everything the caller asked for; ``life`` counts from the first use.
    """

    principal: str
    operation: str
    key: str
    request_digest: str
    life: timedelta = SUBMIT_KEY_LIFE


@frozen
class Submission:
    """One job to accept.

    ``unique_key`` is the digest of the unique options: while an unfinished job holds it, that job is the answer.
    ``unique_for`` makes it hold for a period from submission instead, finished or not.
    """

    command: Submit
    key: SubmitKey | None = None
    unique_key: str | None = None
    unique_for: timedelta | None = None


@frozen
class Submitted:
    """The answer: ``created`` is False when a submit key or unique options led to an earlier job."""

    job_id: int
    created: bool = True


class Submitter(Protocol):
    """All or nothing: either every submission is answered, or nothing is written."""

    async def submit(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert jobs with their ``enqueued`` events and answer in the order given.

        Raises KeyConflict (same key, other request), KeyInProgress (the first request with the key has not ended
        within the wait, 5 s), Unavailable, UnknownOutcome.
        """
        ...


class SyncSubmitter(Protocol):
    """The same for synchronous callers, from any thread."""

    def submit(self, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert jobs as ``Submitter.submit`` does; raises the same."""
        ...


class CallersTransactions(Protocol):
    """Submitting inside a transaction that the caller began and will end."""

    async def submit_in(self, tx: object, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Insert jobs through ``tx``, which may be asynchronous or not; they commit or vanish with it.

        Raises InvalidInput for a ``tx`` that is none or has none open, KeyConflict, KeyInProgress.
        """
        ...

    def submit_in_sync(self, tx: object, submissions: Sequence[Submission]) -> Sequence[Submitted]:
        """Do the same through a synchronous ``tx``."""
        ...
