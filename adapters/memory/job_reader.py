"""Plain reads of jobs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ...application.ports.job_reader import JobFilter
from ...domain.job import Job
from ...domain.vocabulary import State
from .database import MemoryDatabase


class MemoryJobReader:
    """Implements the port ``JobReader``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Read this database."""
        self._database = database

    async def get(self, job_id: int) -> Job | None:
        """Return one job, or None."""
        return self._database.jobs.get(job_id)

    async def page(self, where: JobFilter, *, below: int | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs newest first."""
        newest_first = self._matching(reversed(self._database.jobs.values()), where)
        found = (job for job in newest_first if below is None or job.job_id < below)
        return list(islice(found, limit))

    async def count(self, where: JobFilter, most: int = 10_000) -> int:
        """Count, stopping at ``most``."""
        return sum(1 for _ in islice(self._matching(self._database.jobs.values(), where), most))

    async def states(self, where: JobFilter) -> Mapping[State, int]:
        """Count the jobs of each state; a state without jobs is left out."""
        return Counter(job.state for job in self._matching(self._database.jobs.values(), where))

    def _matching(self, jobs: Iterable[Job], where: JobFilter) -> Iterator[Job]:
        matching = (job for job in jobs if _matches(job, where))
        if where.schedule is None:
            return matching
        fired = self._fired(where.schedule)
        return (job for job in matching if job.job_id in fired)

    def _fired(self, schedule: str) -> set[int | None]:
        """Return the jobs that the ledger of a schedule names."""
        with self._database.transaction():
            return {entry.firing.job_id for entry in self._database.ledgers.get(schedule, {}).values()}


def _matches(job: Job, where: JobFilter) -> bool:
    return (
        (where.states is None or job.state in where.states)
        and (where.queue is None or job.queue == where.queue)
        and (where.type is None or job.type == where.type)
        and (where.dismissed is None or job.dismissed is where.dismissed)
        and (where.submitted_from is None or job.submitted_at >= where.submitted_from)
        and (where.submitted_before is None or job.submitted_at < where.submitted_before)
    )
