"""Plain reads of jobs; every filter is a bound value, so nothing in it is a pattern."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, any_, bindparam, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import array, distinct_on

from ...application.ports.job_reader import JobFilter
from ...domain.job import Job
from ...domain.vocabulary import State
from .database import Database
from .query import Query, Statement
from .rows import columns, job

Order = Sequence[ColumnElement[Any]]


class PostgresJobReader:
    """Implements the port ``JobReader``."""

    def __init__(self, database: Database) -> None:
        """Read this database."""
        self._database = database
        self._jobs = jobs = database.tables.jobs
        self._firings = database.tables.firings
        self._one = Statement(select(*columns(jobs)).where(jobs.c.job_id == bindparam("wanted")))

    async def get(self, job_id: int) -> Job | None:
        """Return one job, or None."""
        rows = await self._database.execute(self._one(wanted=job_id))
        return job(rows[0]) if rows else None

    async def page(self, where: JobFilter, *, below: int | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs newest first."""
        return [job(row) for row in await self._database.execute(self.page_query(where, below, limit))]

    def page_query(self, where: JobFilter, below: int | None, limit: int) -> Query:
        """Return what reads a page: by the primary key from the end, or by the index of a schedule's jobs."""
        found, newest_first = self._matching(where, below)
        return Statement(found.order_by(*newest_first).limit(limit))()

    async def count(self, where: JobFilter, most: int = 10_000) -> int:
        """Count, stopping at ``most``."""
        found, _ = self._matching(where)
        [(number,)] = await self._rows(select(func.count()).select_from(found.limit(most).subquery()))
        return int(number)

    async def states(self, where: JobFilter) -> Mapping[State, int]:
        """Count the jobs of each state; a state without jobs is left out."""
        found = self._matching(where)[0].subquery()
        query = select(found.c.state, func.count()).group_by(found.c.state)
        return {State(state): number for state, number in await self._rows(query)}

    def _matching(self, where: JobFilter, below: int | None = None) -> tuple[Select[Any], Order]:
        """Return what reads the jobs that a filter lets through, and what brings the newest first."""
        jobs, job_id = select(*columns(self._jobs)).where(*self._conditions(where)), self._jobs.c.job_id
        if where.schedule is not None:
            return self._of_schedule(where.schedule, jobs, below)
        return jobs if below is None else jobs.where(job_id < below), [job_id.desc()]

    def _of_schedule(self, name: str, jobs: Select[Any], below: int | None) -> tuple[Select[Any], Order]:
        """Return the same of the jobs that a schedule's ledger names.

        A plan that believes too little must not walk the jobs of all schedules: so the name is a list of one, and part
        of the order, and jobs are looked up one by one, which is what the offset is for.
        """
        firings = self._firings.c
        of_schedule = [firings.schedule == any_(array([name])), firings.job_id.is_not(None)]
        if below is not None:
            of_schedule.append(firings.job_id < below)
        one = jobs.where(self._jobs.c.job_id == firings.job_id).offset(literal_column("0")).lateral("one")
        found = select(one).select_from(self._firings.join(one, true())).where(*of_schedule)
        once = distinct_on(firings.schedule, firings.job_id)
        return found.ext(once), [
            firings.schedule.desc(),
            firings.job_id.desc(),
        ]

    def _conditions(self, where: JobFilter) -> Iterator[ColumnElement[bool]]:
        jobs = self._jobs.c
        if where.states is not None:
            yield jobs.state.in_(sorted(where.states))
        if where.queue is not None:
            yield jobs.queue == where.queue
        if where.type is not None:
            yield jobs.type == where.type
        if where.dismissed is not None:
            yield jobs.dismissed.is_(where.dismissed)
        if where.submitted_from is not None:
            yield jobs.submitted_at >= where.submitted_from
        if where.submitted_before is not None:
            yield jobs.submitted_at < where.submitted_before

    async def _rows(self, query: Select[Any]) -> Sequence[Any]:
        return await self._database.execute(Statement(query)())
