"""Jobs for a measurement: submitted as users submit them, or copied from one that was."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import uvloop

from fencepost import Fencepost
from fencepost.application.submitting import SubmitRequest

from .asking import ask, tell, until
from .copying import Pattern
from .processes import QUEUE, worker

BATCH = 5_000
NEWEST = "SELECT coalesce(max(job_id), 0) FROM fencepost.jobs"


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


def fill(
    dsn: str, copies: int, *, queue: str = QUEUE, spread: timedelta = timedelta(0), **fields: Any
) -> None:
    """Put pending jobs there in bulk: one is submitted, the others are its copies."""
    pattern = submit(dsn, 1, (queue,), **fields) + 1
    with psycopg.connect(dsn, autocommit=True) as connection:
        Pattern(connection, pattern).copy(copies - 1, spread=spread)


def fill_finished(dsn: str, copies: int) -> None:
    """Put succeeded jobs there in bulk: one was really run, the others are its copies."""
    with worker(dsn) as process:
        pattern = submit(dsn, 1) + 1
        until(dsn, "(SELECT state = 'succeeded' FROM fencepost.jobs)", alive=process.alive)
    with psycopg.connect(dsn, autocommit=True) as connection:
        Pattern(connection, pattern).copy(copies - 1, fresh=False)


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
