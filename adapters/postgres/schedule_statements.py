"""The statements behind schedules and firings; rows are locked before the clock is read and anything is written.

By then the transaction owns an xid, so that positions it takes can't be overtaken by a reader of the log.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import frozen
from sqlalchemy import Boolean, Integer, Text, bindparam, text
from sqlalchemy.types import BigInteger, TypeEngine

from ...domain.schedule import MISSED_AFTER
from .query import Statement
from .schedule_rows import ENTRY, FIRING, SCHEDULE
from .tables import MOMENT
from .waking import quoted

_CLOCK = "coalesce(CAST(:now AS timestamptz), clock_timestamp())"
_BEGAN = "coalesce(CAST(:now AS timestamptz), now())"
# The same for all statements of a transaction, so that no schedule is found on both sides of it.
_MISSED = f"{_BEGAN} - interval '{MISSED_AFTER.total_seconds()} s'"
_GET = "SELECT {schedule} FROM {schema}.schedules AS s WHERE s.name = :name"
_LOCK = _GET + " FOR UPDATE"
_LIST = "SELECT {schedule} FROM {schema}.schedules AS s WHERE s.name > :after ORDER BY s.name LIMIT :limit"
_DECLARED = """
SELECT {schedule} FROM {schema}.schedules AS s
WHERE s.declared_by = :app OR s.name = ANY (CAST(:names AS text[])) ORDER BY s.name
"""
_INSERT = """
INSERT INTO {schema}.schedules (
    name, version, definition, payload, created_at, next_fire_at, tz_version, declared_by, declared
) VALUES (
    :name, :version, CAST(:definition AS jsonb), CAST(:payload AS json), :created_at, :next_fire_at, :tz_version,
    :declared_by, CAST(:declared AS json)
)
ON CONFLICT DO NOTHING RETURNING name
"""
_LAST_VERSION = """
SELECT CAST(e.data ->> 'version' AS integer) FROM {schema}.control_events AS e
WHERE e.subject = 'schedule\\:' || :name AND e.name = 'schedule_deleted' ORDER BY e.position DESC LIMIT 1
"""
# The jobs of earlier schedules of a name, but for those of backfills that run apart.
_EARLIER = """
SELECT j.job_id FROM {schema}.firings AS f JOIN {schema}.jobs AS j ON j.job_id = f.job_id
WHERE f.schedule = :name AND j.state IN ('pending', 'running') AND NOT EXISTS (
    SELECT FROM {schema}.backfills AS b WHERE b.backfill_id = f.origin AND b.overlap = 'allow'
)
ORDER BY j.job_id
"""
_UPDATE = """
UPDATE {schema}.schedules SET version = :version, definition = CAST(:definition AS jsonb),
    payload = CAST(:payload AS json), next_fire_at = :next_fire_at, tz_version = CASE
        WHEN next_fire_at IS DISTINCT FROM :next_fire_at THEN :tz_version ELSE tz_version
    END, paused_at = :paused_at,
    pause_reason = :pause_reason, waiting = :waiting, waiting_origin = :waiting_origin,
    waiting_cancels = :waiting_cancels, open_jobs = CAST(:open_jobs AS bigint[]), last_job = :last_job,
    declared_by = :declared_by, declared = CAST(:declared AS json)
WHERE name = :name
"""
_DELETE = "DELETE FROM {schema}.schedules WHERE name = :name"
_NOTE = """
INSERT INTO {schema}.control_events (subject, name, at, actor, request_id, reason, data)
VALUES ('schedule\\:' || :name, :event, :at, :actor, :request_id, :reason, CAST(:data AS jsonb))
"""
_DUE = """
SELECT {schedule} FROM {schema}.schedules AS s
WHERE s.next_fire_at > (SELECT {missed}) AND s.next_fire_at <= (SELECT {clock})
ORDER BY s.next_fire_at, s.name LIMIT :limit FOR UPDATE SKIP LOCKED
"""
_BEHIND = """
SELECT {schedule} FROM {schema}.schedules AS s
WHERE s.next_fire_at <= (SELECT {missed}) ORDER BY s.next_fire_at, s.name LIMIT :limit FOR UPDATE SKIP LOCKED
"""
# Not what is due already: that has been a fire time when it came.
_OUTDATED = """
SELECT {schedule} FROM {schema}.schedules AS s
WHERE s.tz_version < :tz_version AND s.next_fire_at > (SELECT {clock})
ORDER BY s.next_fire_at, s.name LIMIT :limit FOR UPDATE SKIP LOCKED
"""
_STAMP = """
UPDATE {schema}.schedules SET tz_version = :tz_version WHERE name = ANY (CAST(:names AS text[]))
"""
# Counted from the transaction's start: what came due since then was not looked for yet, and what was due before is
# decided by now, or locked by somebody who decides it.
_NEXT = """
SELECT min(next_fire_at) - (SELECT {clock}) FROM {schema}.schedules
WHERE next_fire_at > {began}
"""
# What ``may_begin``, or has something to stop. The last job may have been forgotten when it ended, and put back since.
_WAITING = """
SELECT {schedule} FROM {schema}.schedules AS s
WHERE s.waiting IS NOT NULL AND s.paused_at IS NULL AND (
    s.waiting_origin = 'cron' AND s.definition ->> 'overlap' = 'allow' OR NOT EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.job_id = ANY (s.open_jobs || s.last_job) AND j.state IN ('pending', 'running')
    )
    OR s.waiting_cancels AND EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.job_id = ANY (s.open_jobs || s.last_job) AND j.state IN ('pending', 'running')
            AND j.cancel_requested_at IS NULL
    )
)
ORDER BY s.waiting, s.name LIMIT :limit FOR UPDATE OF s SKIP LOCKED
"""
_STATES = "SELECT job_id, state FROM {schema}.jobs WHERE job_id = ANY (CAST(:job_ids AS bigint[]))"
_STAND = """
UPDATE {schema}.schedules AS s SET next_fire_at = u.next_fire_at, tz_version = CASE
        WHEN s.next_fire_at IS DISTINCT FROM u.next_fire_at THEN :tz_version ELSE s.tz_version
    END, waiting = u.waiting,
    waiting_origin = u.waiting_origin, waiting_cancels = u.waiting_cancels,
    open_jobs = CAST(u.open_jobs AS bigint[]), last_job = u.last_job, paused_at = u.paused_at,
    pause_reason = u.pause_reason, version = u.version
FROM unnest(
    CAST(:name AS text[]), CAST(:next_fire_at AS timestamptz[]), CAST(:waiting AS timestamptz[]),
    CAST(:waiting_origin AS text[]), CAST(:waiting_cancels AS boolean[]), CAST(:open_jobs AS text[]),
    CAST(:last_job AS bigint[]), CAST(:paused_at AS timestamptz[]), CAST(:pause_reason AS text[]),
    CAST(:version AS integer[])
) AS u (
    name, next_fire_at, waiting, waiting_origin, waiting_cancels, open_jobs, last_job, paused_at, pause_reason, version
)
WHERE s.name = u.name
"""
# A slot that is in the ledger already is answered by no row: it has had its decision, whatever the clock did since.
_RECORD = """
INSERT INTO {schema}.firings AS f (
    schedule, fire_at, origin, outcome, reason, until, count, job_id, version, tz_version, decided_at
)
SELECT u.schedule, u.fire_at, u.origin, u.outcome, u.reason, u.until, u.count, u.job_id, u.version, :tz_version, :at
FROM unnest(
    CAST(:schedule AS text[]), CAST(:fire_at AS timestamptz[]), CAST(:origin AS text[]), CAST(:outcome AS text[]),
    CAST(:reason AS text[]), CAST(:until AS timestamptz[]), CAST(:count AS integer[]), CAST(:job_id AS bigint[]),
    CAST(:version AS integer[])
) AS u (schedule, fire_at, origin, outcome, reason, until, count, job_id, version)
ON CONFLICT DO NOTHING RETURNING f.schedule, f.fire_at, f.origin
"""
_NEWEST = """
SELECT n.schedule, {entry} FROM unnest(CAST(:names AS text[])) AS n (schedule) CROSS JOIN LATERAL (
    SELECT * FROM {schema}.firings AS f
    WHERE f.schedule = n.schedule AND f.origin = 'cron' ORDER BY f.fire_at DESC LIMIT 1
) AS f
"""
# From the row on that may reach beyond ``since``: no row encloses another.
_DECIDED = """
SELECT n.schedule, {firing}
FROM unnest(CAST(:names AS text[]), CAST(:since AS timestamptz[])) AS n (schedule, since)
JOIN {schema}.firings AS f ON f.schedule = n.schedule AND f.origin = 'cron' AND f.fire_at <= :at
    AND f.fire_at >= coalesce(
        (SELECT max(e.fire_at) FROM {schema}.firings AS e
            WHERE e.schedule = n.schedule AND e.origin = 'cron' AND e.fire_at <= n.since),
        n.since
    )
"""
_GROW = """
UPDATE {schema}.firings AS f SET until = u.until, count = f.count + u.count
FROM unnest(
    CAST(:schedule AS text[]), CAST(:fire_at AS timestamptz[]), CAST(:until AS timestamptz[]), CAST(:count AS integer[])
) AS u (schedule, fire_at, until, count)
WHERE (f.schedule, f.fire_at, f.origin) = (u.schedule, u.fire_at, 'cron') AND f.until < u.until
"""
_RELEASED = """
UPDATE {schema}.firings AS f
SET job_id = u.job_id, outcome = coalesce(u.outcome, f.outcome), reason = coalesce(u.reason, f.reason)
FROM unnest(
    CAST(:schedule AS text[]), CAST(:fire_at AS timestamptz[]), CAST(:origin AS text[]), CAST(:job_id AS bigint[]),
    CAST(:outcome AS text[]), CAST(:reason AS text[])
) AS u (schedule, fire_at, origin, job_id, outcome, reason)
WHERE (f.schedule, f.fire_at, f.origin) = (u.schedule, u.fire_at, u.origin) AND f.job_id IS NULL
"""
_ASKED = """
SELECT {firing} FROM {schema}.firings AS f WHERE f.schedule = :name AND f.origin = :origin ORDER BY f.fire_at LIMIT 1
"""
_TRIGGERED = """
SELECT (
    SELECT e.data ->> 'overlap' FROM {schema}.control_events AS e
    WHERE e.subject = 'schedule\\:' || :name AND e.name = 'schedule_triggered' AND e.data ->> 'origin' = :origin
    ORDER BY e.position DESC LIMIT 1
)
"""
# With ties, so that a page never ends between rows of one fire time: the next one begins before it.
_LEDGER = """
SELECT {entry} FROM (
    SELECT * FROM {schema}.firings AS f
    WHERE f.schedule = :name AND f.fire_at < coalesce(CAST(:before AS timestamptz), 'infinity')
        AND (CAST(:outcomes AS text[]) IS NULL OR f.outcome = ANY (CAST(:outcomes AS text[])))
        AND (CAST(:reasons AS text[]) IS NULL OR f.reason = ANY (CAST(:reasons AS text[])))
        AND f.origin = coalesce(:origin, f.origin)
    ORDER BY f.fire_at DESC FETCH FIRST (CAST(:limit AS integer)) ROWS WITH TIES
) AS f ORDER BY f.fire_at DESC, f.origin
"""


@frozen
class ScheduleStatements:
    """All of them, in one schema."""

    get: Statement
    lock: Statement
    list: Statement
    declared: Statement
    insert: Statement
    last_version: Statement
    earlier: Statement
    update: Statement
    delete: Statement
    note: Statement
    due: Statement
    behind: Statement
    outdated: Statement
    stamp: Statement
    next: Statement
    waiting: Statement
    states: Statement
    stand: Statement
    record: Statement
    newest: Statement
    decided: Statement
    grow: Statement
    released: Statement
    asked: Statement
    triggered: Statement
    ledger: Statement


_READS = frozenset(
    {
        "earlier",
        "last_version",
        "get",
        "list",
        "declared",
        "next",
        "states",
        "newest",
        "decided",
        "asked",
        "triggered",
        "ledger",
    }
)
_SQL = {
    "get": _GET,
    "lock": _LOCK,
    "list": _LIST,
    "declared": _DECLARED,
    "insert": _INSERT,
    "last_version": _LAST_VERSION,
    "earlier": _EARLIER,
    "update": _UPDATE,
    "delete": _DELETE,
    "note": _NOTE,
    "due": _DUE,
    "behind": _BEHIND,
    "outdated": _OUTDATED,
    "stamp": _STAMP,
    "next": _NEXT,
    "waiting": _WAITING,
    "states": _STATES,
    "stand": _STAND,
    "record": _RECORD,
    "newest": _NEWEST,
    "decided": _DECIDED,
    "grow": _GROW,
    "released": _RELEASED,
    "asked": _ASKED,
    "triggered": _TRIGGERED,
    "ledger": _LEDGER,
}
_KINDS: Mapping[str, TypeEngine[Any]] = {
    "limit": Integer(),
    **dict.fromkeys(("now", "at", "before", "created_at"), MOMENT),
}
_OF_ONE_ROW: Mapping[str, TypeEngine[Any]] = {
    "version": Integer(),
    "last_job": BigInteger(),
    **dict.fromkeys(("next_fire_at", "paused_at", "waiting"), MOMENT),
    "waiting_cancels": Boolean(),
}


@cache
def schedule_statements(schema: str) -> ScheduleStatements:
    """Return the statements of one schema; array parameters are texts."""
    parts = {
        "schema": quoted(schema).replace(":", r"\:"),
        "schedule": SCHEDULE,
        "firing": FIRING,
        "entry": ENTRY,
        "clock": _CLOCK,
        "began": _BEGAN,
        "missed": _MISSED,
    }
    return ScheduleStatements(
        **{
            name: statement(
                sql.format(**parts),
                {**_KINDS, **_OF_ONE_ROW} if name in ("insert", "update") else _KINDS,
                writes=name not in _READS,
            )
            for name, sql in _SQL.items()
        }
    )


def statement(sql: str, kinds: Mapping[str, TypeEngine[Any]], *, writes: bool) -> Statement:
    """Return a statement whose parameters are of these kinds, all others texts."""
    used = set(re.findall(r"(?<![\\:\w]):(\w+)", sql))
    return Statement(
        text(sql).bindparams(*(bindparam(name, type_=kinds.get(name, Text())) for name in used)),
        writes=writes,
    )
