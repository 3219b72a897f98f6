"""Load that lasts: a stock kept full by copies, and a stranger's open snapshot beside it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg

from .asking import ask
from .copying import Pattern
from .draining import EVENTS_PER_JOB, LENGTH
from .filling import settle, submit
from .processes import Process, worker

PORTION = 5_000
MARGIN = 0.5
"""Seconds more than asked for, so that the last window is whole."""


@contextmanager
def snapshot(dsn: str, held: bool = True) -> Iterator[None]:
    """Hold another session's snapshot open for the block: what it could see, nobody may clean up."""
    with psycopg.connect(dsn) if held else nullcontext() as connection:
        if connection is not None:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.execute("SELECT count(*) FROM fencepost.queues")
        yield


def full_load(dsn: str, seconds: float, stock: int) -> None:
    """Let one worker drain for so long while the stock is kept as large as it was at the start."""
    job_id = submit(dsn, 1) + 1
    with psycopg.connect(dsn, autocommit=True) as connection:
        pattern = Pattern(connection, job_id)
        pattern.copy(stock - 1)
        settle(dsn)
        with worker(dsn) as process:
            _keep_full(dsn, connection, process, pattern, seconds)


def _keep_full(
    dsn: str, connection: psycopg.Connection[Any], process: Process, pattern: Pattern, seconds: float
) -> None:
    """Top up by what was done, which the length of the log tells at no cost."""
    before = int(ask(dsn, LENGTH))
    end, copied = float("inf"), 0
    while time.monotonic() < end:
        process.alive()
        position = connection.execute(LENGTH).fetchall()[0][0]
        if position > before and end == float("inf"):
            end = time.monotonic() + seconds + MARGIN
        done = (position - before - copied) / EVENTS_PER_JOB
        if done - copied >= PORTION:
            pattern.copy(PORTION)
            copied += PORTION
        else:
            time.sleep(0.01)
