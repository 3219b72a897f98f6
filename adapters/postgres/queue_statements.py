"""The statements behind ``queue_store``; those that write an event begin after the queue's row was locked.

By then the transaction owns an xid, so that its event's position can't be overtaken by a reader of the log.
"""

import re
from functools import cache
from typing import Any

from attrs import frozen
from sqlalchemy import ARRAY, Text, bindparam, text
from sqlalchemy.types import TypeEngine

from .query import Statement
from .tables import MOMENT
from .waking import quoted

_REGISTER = """
INSERT INTO {schema}.queues (name) SELECT name FROM unnest(:names) AS name ON CONFLICT DO NOTHING
"""
_LOCK = "SELECT paused_at FROM {schema}.queues WHERE name = :name FOR NO KEY UPDATE"
_OUTLAST_CLAIMS = "UPDATE {schema}.queues SET pauses = pauses + 1 WHERE name = :name"
_CLOCK = "SELECT coalesce(CAST(:now AS timestamptz), clock_timestamp()) AS at"
_NOTE = """
INSERT INTO {schema}.control_events (subject, name, at, actor, request_id, reason)
SELECT 'queue\\:' || :name, :event, at, :actor, :request_id, :reason FROM {clock}
"""
_PAUSE = """
WITH clock AS MATERIALIZED ({clock_query}), paused AS (
    UPDATE {schema}.queues SET paused_at = clock.at FROM clock WHERE name = :name
) {note}
"""
_RESUME = """
WITH clock AS MATERIALIZED ({clock_query}), resumed AS (
    UPDATE {schema}.queues SET paused_at = NULL WHERE name = :name
) {note}
"""
_NEWEST = """
SELECT name FROM {schema}.control_events WHERE subject = 'queue\\:' || :name ORDER BY position DESC LIMIT 1
"""
_LIST = """
WITH clock AS MATERIALIZED ({clock_query}), pending AS (
    SELECT queue, count(*) AS pending, count(*) FILTER (WHERE run_at <= (SELECT at FROM clock)) AS due
    FROM {schema}.jobs WHERE state = 'pending' GROUP BY queue
), running AS (
    SELECT queue, count(*) AS running FROM {schema}.jobs WHERE state = 'running' GROUP BY queue
)
SELECT coalesce(q.name, queue) AS name, q.paused_at, coalesce(pending, 0), coalesce(due, 0), coalesce(running, 0)
FROM pending FULL JOIN running USING (queue) FULL JOIN {schema}.queues AS q ON q.name = queue
ORDER BY coalesce(q.name, queue) COLLATE "C"
"""


@frozen
class QueueStatements:
    """All of them."""

    register: Statement
    lock: Statement
    outlast_claims: Statement
    note: Statement
    pause: Statement
    resume: Statement
    newest: Statement
    list: Statement


@cache
def queue_statements(schema: str) -> QueueStatements:
    """Return the statements of one schema."""
    name = quoted(schema)
    parts = {"schema": name, "clock_query": _CLOCK, "note": _NOTE.format(schema=name, clock="clock")}
    return QueueStatements(
        register=_statement(_REGISTER.format(**parts), writes=True),
        lock=_statement(_LOCK.format(**parts), writes=True),
        outlast_claims=_statement(_OUTLAST_CLAIMS.format(**parts), writes=True),
        note=_statement(_NOTE.format(schema=name, clock=f"({_CLOCK}) AS clock"), writes=True),
        pause=_statement(_PAUSE.format(**parts), writes=True),
        resume=_statement(_RESUME.format(**parts), writes=True),
        newest=_statement(_NEWEST.format(**parts), writes=False),
        list=_statement(_LIST.format(**parts), writes=False),
    )


def _statement(sql: str, *, writes: bool) -> Statement:
    kinds: dict[str, TypeEngine[Any]] = {"names": ARRAY(Text), "now": MOMENT}
    used = set(re.findall(r"(?<![\\:\w]):(\w+)", sql))
    return Statement(
        text(sql).bindparams(*(bindparam(name, type_=kinds.get(name, Text())) for name in used)),
        writes=writes,
    )
