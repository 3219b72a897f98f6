"""Plain reads of jobs; every filter is a bound value, so nothing in it is a pattern."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, literal_column, select

from ...application.ports.job_reader import JobFilter
from ...domain.job import Job
from ...domain.vocabulary import State
from .database import Database
from .query import Statement
from .rows import columns, job


class PostgresJobReader:
    """Implements the port ``JobReader``."""

    def __init__(self, database: Database) -> None:
        """Read this database."""
        self._database = database
        self._jobs = jobs = database.tables.jobs
        self._one = Statement(select(*columns(jobs)).where(jobs.c.job_id == bindparam("wanted")))

    async def get(self, job_id: int) -> Job | None:
        """Return one job, or None."""
        rows = await self._database.execute(self._one(wanted=job_id))
        return job(rows[0]) if rows else None

    async def page(self, where: JobFilter, *, below: int | None = None, limit: int = 100) -> Sequence[Job]:
        """Return jobs newest first, by the primary key from the end."""
        query = self._matching(select(*columns(self._jobs)), where)
        if below is not None:
            query = query.where(self._jobs.c.job_id < below)
        return [job(row) for row in await self._rows(query.order_by(self._jobs.c.job_id.desc()).limit(limit))]

    async def count(self, where: JobFilter, most: int = 10_000) -> int:
        """Count, stopping at ``most``."""
        capped = self._matching(select(literal_column("1").label("one")), where).limit(most).subquery()
        [(number,)] = await self._rows(select(func.count()).select_from(capped))
        return int(number)

    async def states(self, where: JobFilter) -> Mapping[State, int]:
        """Count the jobs of each state; a state without jobs is left out."""
        query = self._matching(select(self._jobs.c.state, func.count()), where).group_by(self._jobs.c.state)
        return {State(state): number for state, number in await self._rows(query)}

    def _matching(self, query: Select[Any], where: JobFilter) -> Select[Any]:
        return query.select_from(self._jobs).where(*self._conditions(where))

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
