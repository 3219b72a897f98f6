"""Questions to a schema that is being measured."""

from datetime import datetime
from typing import Any

import psycopg
from attrs import frozen
from psycopg import sql

from ..errors import translated

_IDLE = "SELECT EXISTS (SELECT FROM {schema}.workers WHERE idle)"
_LENGTH = "SELECT last_value FROM {schema}.positions"
_UNFINISHED = """
SELECT EXISTS (SELECT FROM {schema}.jobs WHERE job_id BETWEEN %s AND %s AND state IN ('pending', 'running'))
"""
_DRAINED = """
SELECT count(*) FILTER (WHERE name = 'succeeded'), extract(epoch FROM
    max(at) FILTER (WHERE name = 'succeeded') - min(at) FILTER (WHERE name = 'claimed'))::float8
FROM {schema}.job_events WHERE job_id BETWEEN %s AND %s
"""
_STARTS = """
SELECT job_id, started_at FROM {schema}.job_events WHERE name = 'succeeded' AND job_id BETWEEN %s AND %s
"""


@frozen
class Questions:
    """Asked on one connection; all raise Unavailable when it is lost. Jobs are given by their first and last id."""

    connection: psycopg.AsyncConnection[Any]
    schema: str

    async def idle(self) -> bool:
        """Tell whether a worker listens and has nothing to do."""
        [(idle,)] = await self._ask(_IDLE)
        return bool(idle)

    async def length(self) -> int:
        """Return the highest position of the log: how far it has grown, at next to no cost."""
        [(position,)] = await self._ask(_LENGTH)
        return int(position)

    async def unfinished(self, first: int, last: int) -> bool:
        """Tell whether some of the jobs have not ended."""
        [(unfinished,)] = await self._ask(_UNFINISHED, first, last)
        return bool(unfinished)

    async def drained(self, first: int, last: int) -> tuple[int, float]:
        """Return how many jobs succeeded, and the seconds from the first ``claimed`` to the last ``succeeded``."""
        [(jobs, seconds)] = await self._ask(_DRAINED, first, last)
        return int(jobs), float(seconds or 0)

    async def starts(self, first: int, last: int) -> dict[int, datetime]:
        """Return when each job's handler started, by the clock of the worker's machine."""
        return dict(await self._ask(_STARTS, first, last))

    async def _ask(self, question: str, *values: object) -> list[Any]:
        query = sql.SQL(question).format(schema=sql.Identifier(self.schema))
        try:
            return await (await self.connection.execute(query, values)).fetchall()
        except psycopg.Error as error:
            raise translated(error, in_doubt=False) from error
