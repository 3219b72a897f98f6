"""The checker over a measurement's history."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from attrs import frozen

from fencepost.adapters.postgres.migrations import migrate
from fencepost.application.verifying import verify
from fencepost.domain.invariants import Report
from fencepost.entrypoints.container import assemble, closed, opened
from fencepost.entrypoints.settings import load

from .asking import tell
from .filling import newest

WHOLE = 500_000
"""So many newest jobs are judged, and one in ``SAMPLE`` of the others, which are copies of each other."""
SAMPLE = 100
EXCERPT = "fencepost_excerpt"
TABLES = ("jobs", "job_events", "firings")


@frozen
class Judgement:
    """Of how many jobs, and how many promises their histories break."""

    jobs: int = 0
    violations: int = 0

    def __add__(self, other: "Judgement") -> "Judgement":
        """Add up."""
        return Judgement(self.jobs + other.jobs, self.violations + other.violations)


def judge(dsn: str) -> Judgement:
    """Judge the history, or an excerpt of one that is very long."""
    last = newest(dsn)
    with _excerpt(dsn, last - WHOLE) if last > WHOLE else nullcontext("fencepost") as schema:
        report = asyncio.run(_judged(dsn, schema))
    return Judgement(report.jobs, sum(report.counts.values()))


async def _judged(dsn: str, schema: str) -> Report:
    container = await opened(assemble(load({"schema": schema}), dsn))
    try:
        return await verify(container.event_log(), schedules=schema != EXCERPT)
    finally:
        await closed(container)


@contextmanager
def _excerpt(dsn: str, after: int) -> Iterator[str]:
    """Copy what is judged into a schema of its own, and yield its name."""
    migrate(dsn, EXCERPT)
    copies = [
        f"INSERT INTO {EXCERPT}.{table} OVERRIDING SYSTEM VALUE SELECT * FROM fencepost.{table} "
        f"WHERE job_id > {after} OR job_id % {SAMPLE} = 0"
        for table in TABLES
    ]
    copies.append(f"INSERT INTO {EXCERPT}.control_events SELECT * FROM fencepost.control_events")
    try:
        tell(dsn, *copies, f"VACUUM (ANALYZE) {EXCERPT}.jobs, {EXCERPT}.job_events")
        yield EXCERPT
    finally:
        tell(dsn, f"DROP SCHEMA {EXCERPT} CASCADE")
