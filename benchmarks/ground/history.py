"""Questions to the history of a measurement."""

from collections.abc import Sequence
from datetime import datetime

from .asking import rows
from .numbers import percentile

# The handler's start is told by the worker: same machine, same clock as the database's.
MOMENTS = "SELECT job_id, {moment} FROM fencepost.job_events WHERE name = '{name}'"
SINCE = """
SELECT extract(epoch FROM ended.started_at - enqueued.{moment}) * 1000
FROM fencepost.job_events AS enqueued JOIN fencepost.job_events AS ended USING (job_id)
WHERE enqueued.name = 'enqueued' AND ended.name = 'succeeded'
"""
WINDOWS = """
SELECT floor(extract(epoch FROM at - since) / %s)::integer AS number, count(*) / %s
FROM (SELECT at, min(at) OVER () AS since FROM fencepost.job_events WHERE name = 'succeeded') AS done
GROUP BY number ORDER BY number
"""


def starts(dsn: str) -> dict[int, datetime]:
    """Return when the handler of each finished job started."""
    return dict(rows(dsn, MOMENTS.format(moment="started_at", name="succeeded")))


def claims(dsn: str) -> dict[int, datetime]:
    """Return when each job was claimed."""
    return dict(rows(dsn, MOMENTS.format(moment="at", name="claimed")))


def latencies(dsn: str) -> list[float]:
    """Return the milliseconds from each job's submit to its handler's start."""
    return [float(value) for (value,) in rows(dsn, SINCE.format(moment="at"))]


def lateness(dsn: str) -> list[float]:
    """Return the milliseconds from each job's due time to its handler's start."""
    return [float(value) for (value,) in rows(dsn, SINCE.format(moment="run_at"))]


def windows(dsn: str, seconds: float) -> list[float]:
    """Return jobs per second in each window since the first one ended; the last window may not be whole."""
    found = {number: float(rate) for number, rate in rows(dsn, WINDOWS, [seconds, seconds])}
    return [found.get(number, 0.0) for number in range(max(found, default=-1) + 1)]


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the tail."""
    return {f"p{percent}": percentile(values, percent) for percent in (50, 95, 99)}
