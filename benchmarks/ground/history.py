"""Questions to the history of a measurement."""

from attrs import frozen

from .asking import rows
from .numbers import percentile

# The handler's start is told by the worker: same machine, same clock as the database's.
WAYS = """
SELECT extract(epoch FROM claimed.at - enqueued.at) * 1000, extract(epoch FROM ended.started_at - enqueued.at) * 1000,
       extract(epoch FROM ended.started_at - enqueued.run_at) * 1000
FROM fencepost.job_events AS enqueued
JOIN fencepost.job_events AS claimed ON claimed.job_id = enqueued.job_id AND claimed.name = 'claimed'
JOIN fencepost.job_events AS ended ON ended.job_id = enqueued.job_id AND ended.name = 'succeeded'
WHERE enqueued.name = 'enqueued' AND enqueued.job_id > %s
"""
WINDOWS = """
SELECT floor(extract(epoch FROM at - since) / %s)::integer AS number, count(*) / %s
FROM (SELECT at, min(at) OVER () AS since FROM fencepost.job_events WHERE name = 'succeeded') AS done
GROUP BY number ORDER BY number
"""


@frozen
class Way:
    """Milliseconds of one job: submit to claim, submit to the handler's start, due time to the handler's start."""

    to_claim: float
    to_start: float
    late: float


def ways(dsn: str, after: int) -> list[Way]:
    """Return the way of every finished job whose id is above."""
    return [Way(*map(float, row)) for row in rows(dsn, WAYS, [after])]


def windows(dsn: str, seconds: float) -> list[float]:
    """Return jobs per second in each window since the first one ended; the last window may not be whole."""
    found = {number: float(rate) for number, rate in rows(dsn, WINDOWS, [seconds, seconds])}
    return [found.get(number, 0.0) for number in range(max(found, default=-1) + 1)]


def percentiles(values: list[float]) -> dict[str, float]:
    """Return the median and the tail."""
    return {f"p{percent}": percentile(values, percent) for percent in (50, 95, 99)}
