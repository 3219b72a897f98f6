"""The statements behind backfills. Whoever waits for locks takes the schedule's first, then its backfills'.

What a round finds is judged again once it is locked: jobs that were inserted meanwhile are not in its snapshot.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import frozen
from sqlalchemy import Integer
from sqlalchemy.types import TypeEngine

from .backfill_rows import BACKFILL, COLUMNS
from .query import Statement
from .schedule_rows import SCHEDULE
from .schedule_statements import statement
from .tables import MOMENT
from .waking import quoted

_GET = "SELECT {backfill} FROM {schema}.backfills AS b WHERE b.backfill_id = :backfill_id"
_LOCK = _GET + " FOR UPDATE"
_OF_SCHEDULE = """
SELECT {backfill} FROM {schema}.backfills AS b WHERE b.schedule = :name
ORDER BY b.requested_at DESC, b.backfill_id LIMIT :limit
"""
_UNDONE = """
SELECT {backfill} FROM {schema}.backfills AS b WHERE b.schedule = :name AND b.next_at IS NOT NULL
ORDER BY b.backfill_id FOR UPDATE
"""
_INSERT = """
INSERT INTO {schema}.backfills (timing, {columns}) VALUES (CAST(:timing AS jsonb), {values})
"""
_MOVE = """
UPDATE {schema}.backfills SET decided = :decided, fired = :fired, next_at = :next_at, ended_at = :ended_at,
    ending = :ending
WHERE backfill_id = :backfill_id
"""
_NEXT = """
SELECT {backfill}, {schedule} FROM {schema}.backfills AS b JOIN {schema}.schedules AS s ON s.name = b.schedule
WHERE b.next_at IS NOT NULL AND b.backfill_id <> ALL (CAST(:aside AS text[])) AND (
    b.overlap <> 'queue_one' OR (s.waiting IS NULL OR s.paused_at IS NOT NULL) AND NOT EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.job_id = ANY (array_append(s.open_jobs, s.last_job)) AND j.state IN ('pending', 'running')
    )
)
ORDER BY b.requested_at, b.backfill_id LIMIT 1 FOR UPDATE OF b, s SKIP LOCKED
"""
_KINDS: Mapping[str, TypeEngine[Any]] = {
    **dict.fromkeys(("limit", "priority", "total", "decided", "fired"), Integer()),
    **dict.fromkeys(("from_at", "to_at", "next_at", "requested_at", "ended_at"), MOMENT),
}


@frozen
class BackfillStatements:
    """All of them, in one schema."""

    get: Statement
    lock: Statement
    of_schedule: Statement
    undone: Statement
    insert: Statement
    move: Statement
    next: Statement


_SQL = {
    "get": _GET,
    "lock": _LOCK,
    "of_schedule": _OF_SCHEDULE,
    "undone": _UNDONE,
    "insert": _INSERT,
    "move": _MOVE,
    "next": _NEXT,
}


@cache
def backfill_statements(schema: str) -> BackfillStatements:
    """Return the statements of one schema."""
    parts = {
        "schema": quoted(schema).replace(":", r"\:"),
        "backfill": BACKFILL,
        "schedule": SCHEDULE,
        "columns": ", ".join(COLUMNS),
        "values": ", ".join(f":{name}" for name in COLUMNS),
    }
    return BackfillStatements(
        **{
            name: statement(sql.format(**parts), _KINDS, writes=name not in ("get", "of_schedule"))
            for name, sql in _SQL.items()
        }
    )
