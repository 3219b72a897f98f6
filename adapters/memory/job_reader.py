"""Plain reads of jobs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
        newest_first = reversed(self._database.jobs.values())
        found = (
            job for job in newest_first if (below is None or job.job_id < below) and _matches(job, where)
        )
        return list(islice(found, limit))

    async def count(self, where: JobFilter, most: int = 10_000) -> int:
        """Count, stopping at ``most``."""
        return sum(1 for _ in islice(self._matching(where), most))

    async def states(self, where: JobFilter) -> Mapping[State, int]:
        """Count the jobs of each state; a state without jobs is left out."""
        return Counter(job.state for job in self._matching(where))

    def _matching(self, where: JobFilter) -> Iterator[Job]:
        return (job for job in self._database.jobs.values() if _matches(job, where))


def _matches(job: Job, where: JobFilter) -> bool:
    return (
        (where.states is None or job.state in where.states)
        and (where.queue is None or job.queue == where.queue)
        and (where.type is None or job.type == where.type)
        and (where.dismissed is None or job.dismissed is where.dismissed)
        and (where.submitted_from is None or job.submitted_at >= where.submitted_from)
        and (where.submitted_before is None or job.submitted_at < where.submitted_before)
    )
