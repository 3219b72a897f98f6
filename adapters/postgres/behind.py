"""Looking behind the frontier while claims go on: a read on a connection of its own."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from sqlalchemy import text

from ...application.ports.job_store import ClaimRequest
from ...domain.errors import Unavailable
from ...domain.vocabulary import State
from .arrays import numbers, texts, words
from .database import Database
from .frontier import Frontier, Scan
from .pipeline import names
from .query import Query, Statement


@cache
def _first_behind(schema: str) -> Statement:
    """Return the statement that finds the first job of each level that lies behind its place."""
    return Statement(
        text(f"""
SELECT level.priority, first.run_at, first.job_id
FROM unnest(CAST(:levels AS smallint[]), CAST(:run_ats AS timestamptz[]), CAST(:job_ids AS bigint[]))
    AS level (priority, run_at, job_id)
CROSS JOIN LATERAL (
    SELECT j.run_at, j.job_id FROM {names(schema).jobs} AS j
    WHERE j.state = '{State.PENDING}' AND j.queue = (SELECT CAST(:queue AS text)) AND j.priority = level.priority
      AND (j.run_at, j.job_id) <= (level.run_at, level.job_id) AND j.type = ANY (CAST(:types AS text[]))
    ORDER BY j.run_at, j.job_id LIMIT 1
) AS first
"""),
        writes=False,
    )


def behind_query(schema: str, request: ClaimRequest, scan: Scan) -> Query:
    """Return the search behind the places of a scan, for the jobs that a claim asks for."""
    places = scan.places
    return _first_behind(schema)(
        levels=numbers(places),
        run_ats=words([run_at.isoformat() for run_at, _ in places.values()]),
        job_ids=numbers([job_id for _, job_id in places.values()]),
        queue=request.queue,
        types=texts(sorted(request.types)),
    )


class Looker:
    """Looks behind frontiers, one look at a time for each."""

    def __init__(self, database: Database, monotonic: Callable[[], float]) -> None:
        """Look through this database, whose connections may be busy for as long as a statement may take."""
        self._database, self._monotonic = database, monotonic
        self._looks: set[asyncio.Task[None]] = set()

    def look(self, frontier: Frontier, request: ClaimRequest) -> None:
        """Begin to look unless somebody does; the frontier hears what was found."""
        if frontier.looking:
            return
        frontier.looking = True
        task = asyncio.create_task(self._look(frontier, request))
        self._looks.add(task)
        task.add_done_callback(self._looks.discard)

    async def close(self) -> None:
        """Look no longer."""
        for task in self._looks:
            task.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)

    async def _look(self, frontier: Frontier, request: ClaimRequest) -> None:
        scan, began = frontier.onward(), self._monotonic()
        first = {}
        try:
            with suppress(Unavailable):  # nothing was found; the claims find out whether the database is away
                rows = await self._database.execute(behind_query(self._database.schema, request, scan))
                first = {priority: (run_at, job_id) for priority, run_at, job_id in rows}
            frontier.looked(first, self._monotonic() - began)
        finally:
            frontier.looking = False
