"""Copies of a job with its history, in bulk: rows and events that its submit and its runs would have written."""

from datetime import timedelta
from typing import Any

import psycopg

AT_ONCE = 250_000
"""Jobs copied in one transaction."""
COLUMNS = """
SELECT column_name, data_type = 'timestamp with time zone' FROM information_schema.columns
WHERE table_schema = 'fencepost' AND table_name = %s AND column_name <> ALL (%s) ORDER BY ordinal_position
"""
KEEP = "CREATE TEMPORARY TABLE pattern_{table} AS SELECT * FROM fencepost.{table} WHERE job_id = %s"
# Every moment is moved by as much, so that what was allowed then is allowed now; and a job owns its xid, and so its
# place in the log, before its events take positions.
COPY = """
WITH moved AS MATERIALIZED (
    SELECT CASE WHEN %(fresh)s THEN clock_timestamp() - submitted_at ELSE '0' END AS by FROM pattern_jobs
), copied AS (
    INSERT INTO fencepost.jobs (run_at, {job_columns})
    SELECT p.run_at + moved.by + n * %(spread)s, {job_values}
    FROM pattern_jobs AS p, moved, generate_series(1, %(copies)s) AS n
    RETURNING job_id, run_at
)
INSERT INTO fencepost.job_events (position, job_id, run_at, {event_columns})
SELECT nextval('fencepost.positions'), copied.job_id, CASE WHEN p.run_at IS NOT NULL THEN copied.run_at END,
    {event_values}
FROM copied CROSS JOIN moved CROSS JOIN LATERAL (SELECT * FROM pattern_job_events ORDER BY seq) AS p
"""


class Pattern:
    """A job as it is now; its copies stay like that, whatever becomes of it."""

    def __init__(self, connection: psycopg.Connection[Any], job_id: int) -> None:
        """Keep the job and its history on this connection."""
        self._connection = connection
        for table in ("jobs", "job_events"):
            connection.execute(KEEP.format(table=table), [job_id])
        jobs = connection.execute(COLUMNS, ["jobs", ["job_id", "run_at"]]).fetchall()
        events = connection.execute(COLUMNS, ["job_events", ["position", "job_id", "run_at"]]).fetchall()
        self._statement = COPY.format(
            job_columns=", ".join(name for name, _ in jobs),
            job_values=", ".join(_value(*column) for column in jobs),
            event_columns=", ".join(name for name, _ in events),
            event_values=", ".join(_value(*column) for column in events),
        )

    def copy(self, copies: int, *, fresh: bool = True, spread: timedelta = timedelta(0)) -> None:
        """Make copies; ``fresh`` moves them to the present, ``spread`` keeps their due times apart."""
        values = {"fresh": fresh, "spread": spread}
        for start in range(0, copies, AT_ONCE):
            self._connection.execute(self._statement, {**values, "copies": min(AT_ONCE, copies - start)})


def _value(name: str, moment: bool) -> str:
    return f"p.{name} + moved.by" if moment else f"p.{name}"
