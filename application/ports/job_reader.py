"""Plain reads of jobs, beside the aggregate."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from ...domain.job import Job
from ...domain.vocabulary import State


@frozen(kw_only=True)
class JobFilter:
    """All given conditions must hold, literally (no patterns); None means any.

    The jobs of a ``schedule`` are those that its ledger names, those of backfills and triggers included; the ledger
    outlives it.
    """

    states: frozenset[State] | None = None
    queue: str | None = None
    type: str | None = None
    schedule: str | None = None
    dismissed: bool | None = None
    submitted_from: datetime | None = None
    submitted_before: datetime | None = None


class JobReader(Protocol):
    """What is true now."""

    async def get(self, job_id: int) -> Job | None:
        """Return one job, or None."""
        ...

    async def page(self, where: JobFilter, *, below: int | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs newest first (job_id DESC), only those with an id below ``below``: keyset pagination."""
        ...

    async def count(self, where: JobFilter, most: int = 10_000) -> int:
        """Count, stopping at ``most``."""
        ...

    async def states(self, where: JobFilter) -> Mapping[State, int]:
        """Count the jobs of each state, exactly: for tests, demos and small tables."""
        ...
