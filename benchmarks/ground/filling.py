"""Jobs for a measurement: submitted as users submit them, or copied from one that was."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

import psycopg
import uvloop

from fencepost import Fencepost
from fencepost.application.submitting import SubmitRequest

from .asking import ask, tell
from .processes import QUEUE, until_idle, worker

BATCH = 5_000
COPIES = 250_000
"""Jobs copied in one transaction."""
NEWEST = "SELECT coalesce(max(job_id), 0) FROM fencepost.jobs"
COLUMNS = """
SELECT column_name, data_type = 'timestamp with time zone' FROM information_schema.columns
WHERE table_schema = 'fencepost' AND table_name = %s AND column_name <> ALL (%s) ORDER BY ordinal_position
"""
# Every moment is moved by as much, so that what was allowed then is allowed now; and a job owns its xid, and so its
# place in the log, before its events take positions.
COPY = """
WITH moved AS MATERIALIZED (
    SELECT CASE WHEN %(fresh)s THEN clock_timestamp() - submitted_at ELSE '0' END AS by
    FROM fencepost.jobs WHERE job_id = %(pattern)s
), copied AS (
    INSERT INTO fencepost.jobs (run_at, {job_columns})
    SELECT j.run_at + moved.by + n * %(spread)s, {job_values}
    FROM fencepost.jobs AS j, moved, generate_series(1, %(copies)s) AS n WHERE j.job_id = %(pattern)s
    RETURNING job_id, run_at
)
INSERT INTO fencepost.job_events (position, job_id, run_at, {event_columns})
SELECT nextval('fencepost.positions'), copied.job_id, CASE WHEN j.run_at IS NOT NULL THEN copied.run_at END,
    {event_values}
FROM copied CROSS JOIN moved CROSS JOIN LATERAL (
    SELECT * FROM fencepost.job_events WHERE job_id = %(pattern)s ORDER BY seq
) AS j
"""


def submit(dsn: str, jobs: int, queues: Sequence[str] = (QUEUE,), **fields: Any) -> int:
    """Submit so many jobs through the library, in turn to each queue; returns the id of the newest job before them."""
    before = newest(dsn)
    uvloop.run(_submit(dsn, jobs, queues, fields))
    return before


def newest(dsn: str) -> int:
    """Return the highest job id."""
    return int(ask(dsn, NEWEST))


def request(number: int, **fields: Any) -> SubmitRequest:
    """Return a job, a no-op unless the fields say something else."""
    return SubmitRequest(**{"type": "noop", "queue": QUEUE, "payload": {"number": number}, **fields})


def copy(
    connection: psycopg.Connection[Any],
    pattern: int,
    copies: int,
    *,
    fresh: bool = True,
    spread: timedelta = timedelta(0),
) -> None:
    """Copy a job with its history; ``fresh`` moves it to the present, ``spread`` keeps due times apart."""
    statement = _copy_statement(connection)
    values = {"pattern": pattern, "fresh": fresh, "spread": spread}
    for start in range(0, copies, COPIES):
        connection.execute(statement, {**values, "copies": min(COPIES, copies - start)})


def fill(
    dsn: str, copies: int, *, queue: str = QUEUE, spread: timedelta = timedelta(0), **fields: Any
) -> None:
    """Put pending jobs there in bulk: one is submitted, the others are its copies."""
    pattern = submit(dsn, 1, (queue,), **fields) + 1
    with psycopg.connect(dsn, autocommit=True) as connection:
        copy(connection, pattern, copies - 1, spread=spread)


def fill_finished(dsn: str, copies: int) -> None:
    """Put succeeded jobs there in bulk: one was really run, the others are its copies."""
    with worker(dsn) as process:
        pattern = submit(dsn, 1) + 1
        until_idle(dsn, process)
    with psycopg.connect(dsn, autocommit=True) as connection:
        copy(connection, pattern, copies - 1, fresh=False)


def freeze(dsn: str) -> None:
    """Leave nothing in a template that a copy of it would have to clean up."""
    tell(dsn, "VACUUM (FREEZE, ANALYZE)", "CHECKPOINT")


def settle(dsn: str) -> None:
    """Leave the same conditions for everybody: fresh statistics and nothing that still has to be written."""
    tell(dsn, "VACUUM (ANALYZE)", "CHECKPOINT")


async def _submit(dsn: str, jobs: int, queues: Sequence[str], fields: Mapping[str, Any]) -> None:
    async with Fencepost(dsn) as app:
        for start in range(0, jobs, BATCH):
            numbers = range(start, min(start + BATCH, jobs))
            await app.submit_many(
                [request(number, queue=queues[number % len(queues)], **fields) for number in numbers]
            )


def _copy_statement(connection: psycopg.Connection[Any]) -> str:
    return _built(
        tuple(connection.execute(COLUMNS, ["jobs", ["job_id", "run_at"]]).fetchall()),
        tuple(connection.execute(COLUMNS, ["job_events", ["position", "job_id", "run_at"]]).fetchall()),
    )


@cache
def _built(jobs: tuple[tuple[str, bool], ...], events: tuple[tuple[str, bool], ...]) -> str:
    return COPY.format(
        job_columns=", ".join(name for name, _ in jobs),
        job_values=", ".join(map(_value, jobs)),
        event_columns=", ".join(name for name, _ in events),
        event_values=", ".join(map(_value, events)),
    )


def _value(column: tuple[str, bool]) -> str:
    name, moment = column
    return f"j.{name} + moved.by" if moment else f"j.{name}"
