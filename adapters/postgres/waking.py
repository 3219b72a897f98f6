"""Who is told that work may be waiting: idle workers, on one channel per schema."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from hashlib import sha256
from typing import Any

from attrs import frozen
from sqlalchemy import ARRAY, Text, bindparam, text

from ...application.ports.runs import Runs
from ...application.ports.submitter import Submission, Submitted
from .query import Statement

IDENTIFIER_BYTES = 63
POLLED = timedelta(seconds=1)
"""A job due later than this is found by the fallback poll; nobody needs to be woken for it."""
STALE = "1 minute"
"""A worker that waits says so again and again; one that has been silent this long is gone."""

# A notification makes the transaction one that writes; what a crash of the server forgets of it is only a hint, so
# nobody waits for the disk, least of all while holding the lock that every notification of the cluster takes.
_TO_IDLE = """
SELECT pg_notify(:channel, queue) FROM unnest(:queues) AS queue
WHERE EXISTS (
    SELECT FROM {schema}.workers
    WHERE idle AND queues && ARRAY[queue] AND last_seen_at > clock_timestamp() - CAST(:stale AS interval)
) AND set_config('synchronous_commit', 'off', true) IS NOT NULL
"""
_TO_ALL = "SELECT pg_notify(:channel, queue) FROM unnest(:queues) AS queue"


def channel(schema: str) -> str:
    """Return the channel's name, shortened to what PostgreSQL accepts."""
    name = f"fencepost_{schema}"
    if len(name.encode()) <= IDENTIFIER_BYTES:
        return name
    return f"fencepost_{sha256(schema.encode()).hexdigest()[:32]}"


@frozen
class Waking:
    """The statements; a notification takes a lock of the whole cluster at commit, so it is given only when heard.

    ``to_idle`` must begin after the work was committed, or a worker that has just become idle is missed.
    """

    to_idle: Statement
    to_all: Statement


@cache
def waking(schema: str) -> Waking:
    """Return the statements of one schema; both take ``queues``."""
    return Waking(
        to_idle=_statement(_TO_IDLE.format(schema=quoted(schema)), channel=channel(schema), stale=STALE),
        to_all=_statement(_TO_ALL, channel=channel(schema)),
    )


def woken_queues(submissions: Sequence[Submission], answers: Sequence[Submitted]) -> list[str]:
    """Return the queues that new jobs went to, but for those that a poll finds early enough."""
    if isinstance(submissions, Runs) and all(answer.created for answer in answers):
        new = [run.first for run in submissions.runs]
    else:
        new = [s for s, answer in zip(submissions, answers, strict=True) if answer.created]
    commands = [submission.command for submission in new]
    return sorted({c.specification.queue for c in commands if c.delay is None or c.delay <= POLLED})


def quoted(identifier: str) -> str:
    """Return an identifier as SQL text."""
    return '"' + identifier.replace('"', '""') + '"'


def _statement(sql: str, **values: Any) -> Statement:
    fixed = [bindparam(name, value, type_=Text) for name, value in values.items()]
    return Statement(text(sql).bindparams(bindparam("queues", type_=ARRAY(Text)), *fixed), writes=False)
