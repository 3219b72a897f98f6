"""The statements behind a submit, one set per schema; arrays carry the batch, ``number`` keeps its order."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from attrs import frozen
from sqlalchemy import Integer, Text, bindparam, text
from sqlalchemy.types import TypeEngine

from . import arrays
from .query import Statement
from .tables import MOMENT
from .waking import quoted

_JOB = {
    "job_id": "bigint",
    **dict.fromkeys(("type", "queue"), "text"),
    "priority": "smallint",
    "run_at": "timestamptz",
    "delay_us": "bigint",
    "max_attempts": "integer",
    **dict.fromkeys(("timeout_us", "lease_us"), "bigint"),
    **dict.fromkeys(("effect_key", "retry", "payload"), "text"),
    "scheduled_for": "timestamptz",
    **dict.fromkeys(("actor", "request_id", "reason", "build", "data"), "text"),
}
_NAME = dict.fromkeys(("principal", "operation", "key"), "text")
_KEY = {**_NAME, "request_digest": "text", "job_id": "bigint", "life_us": "bigint"}
_UNIQUE = {"unique_key": "text", "job_id": "bigint", "period_us": "bigint"}

_CLOCK = "SELECT coalesce(CAST(:now AS timestamptz), clock_timestamp()) AS at"

# The condition on ``inserted`` makes the rows come first: the transaction then owns an xid before it takes positions.
_INSERT = """
WITH given AS MATERIALIZED (
    SELECT coalesce(u.job_id, nextval('{schema}.jobs_job_id_seq')) AS id, clock.at,
           coalesce(u.run_at, clock.at + u.delay_us * interval '1 microsecond') AS due_at, u.*
    FROM ({clock}) AS clock CROSS JOIN {jobs}
), inserted AS (
    INSERT INTO {schema}.jobs (
        job_id, type, queue, priority, run_at, max_attempts, timeout, lease, submitted_at, effect_key, retry, payload,
        scheduled_for
    ) OVERRIDING SYSTEM VALUE
    SELECT id, type, queue, priority, due_at, max_attempts, timeout_us * interval '1 microsecond',
           lease_us * interval '1 microsecond', at, effect_key, CAST(retry AS jsonb), CAST(payload AS json),
           scheduled_for
    FROM given ORDER BY number
    RETURNING job_id
), logged AS (
    INSERT INTO {schema}.job_events (
        job_id, seq, attempt, failures, name, state, at, run_at, actor, request_id, reason, build, data, payload
    )
    SELECT id, 1, 0, 0, 'enqueued', 'pending', at, due_at, actor, request_id, reason, build,
           CAST(data AS jsonb), CAST(payload AS json)
    FROM given WHERE (SELECT count(*) FROM inserted) > 0 ORDER BY number
)
SELECT id FROM given ORDER BY number
"""

_DRAW_IDS = "SELECT nextval('{schema}.jobs_job_id_seq') FROM generate_series(1, :number)"

# The transaction owns an xid before its rows take positions.
_BEGIN_COPY = """
SELECT clock.at, ARRAY(SELECT nextval('{schema}.jobs_job_id_seq') FROM generate_series(1, :number))
FROM ({clock}) AS clock WHERE pg_current_xact_id() IS NOT NULL
"""

# The job's id is known with the key, so that the row need not be written twice.
_TAKE_KEYS = """
INSERT INTO {schema}.submit_keys (principal, operation, key, request_digest, job_id, used_at, expires_at)
SELECT u.principal, u.operation, u.key, u.request_digest,
       coalesce(u.job_id, nextval('{schema}.jobs_job_id_seq')), clock.at,
       clock.at + u.life_us * interval '1 microsecond'
FROM ({clock}) AS clock CROSS JOIN {keys}
WHERE (SELECT set_config('lock_timeout', :patience, true)) IS NOT NULL ORDER BY u.number
ON CONFLICT DO NOTHING
RETURNING principal, operation, key, job_id
"""

_TAKE_OVER_KEYS = """
WITH expired AS MATERIALIZED (
    SELECT u.*, clock.at
    FROM ({clock}) AS clock CROSS JOIN {keys} JOIN {schema}.submit_keys AS k USING (principal, operation, key)
    WHERE k.expires_at <= clock.at ORDER BY u.number FOR UPDATE OF k
)
UPDATE {schema}.submit_keys AS k
SET request_digest = e.request_digest, job_id = coalesce(e.job_id, nextval('{schema}.jobs_job_id_seq')),
    used_at = e.at, expires_at = e.at + e.life_us * interval '1 microsecond'
FROM expired AS e
WHERE (k.principal, k.operation, k.key) = (e.principal, e.operation, e.key)
RETURNING k.principal, k.operation, k.key, k.job_id
"""

# The lock writes to the log: the answer to a replay waits for the standby as the first answer did.
_READ_KEYS = """
SELECT k.principal, k.operation, k.key, k.request_digest, k.job_id
FROM {names}
JOIN {schema}.submit_keys AS k USING (principal, operation, key) ORDER BY u.number FOR SHARE OF k
"""

_REPOINT_KEYS = """
UPDATE {schema}.submit_keys AS k SET job_id = u.job_id
FROM {pointers}
WHERE (k.principal, k.operation, k.key) = (u.principal, u.operation, u.key)
"""

_TAKE_UNIQUES = """
INSERT INTO {schema}.unique_keys (unique_key, job_id, held_until)
SELECT u.unique_key, coalesce(u.job_id, nextval('{schema}.jobs_job_id_seq')),
       clock.at + u.period_us * interval '1 microsecond'
FROM ({clock}) AS clock CROSS JOIN {uniques}
WHERE (SELECT set_config('lock_timeout', :patience, true)) IS NOT NULL ORDER BY u.number
ON CONFLICT DO NOTHING
RETURNING unique_key, job_id
"""

_LOCK_UNIQUES = """
SELECT k.unique_key
FROM {unique_names}
JOIN {schema}.unique_keys AS k USING (unique_key) ORDER BY u.number FOR UPDATE OF k
"""

# Begun after the lock was granted, so that it sees the job of whoever held the key until then.
_READ_UNIQUES = """
SELECT k.unique_key, k.job_id
FROM ({clock}) AS clock CROSS JOIN {schema}.unique_keys AS k LEFT JOIN {schema}.jobs AS j USING (job_id)
WHERE k.unique_key = ANY (CAST(:unique_key AS text[]))
  AND CASE WHEN k.held_until IS NULL THEN j.state IN ('pending', 'running') ELSE k.held_until > clock.at END
"""

_REPOINT_UNIQUES = """
UPDATE {schema}.unique_keys AS k
SET job_id = coalesce(u.job_id, nextval('{schema}.jobs_job_id_seq')),
    held_until = clock.at + u.period_us * interval '1 microsecond'
FROM ({clock}) AS clock CROSS JOIN {uniques} WHERE k.unique_key = u.unique_key
RETURNING k.unique_key, k.job_id
"""


@frozen
class SubmitStatements:
    """All of them, in one schema."""

    schema: str
    insert: Statement
    begin_copy: Statement
    draw_ids: Statement
    take_keys: Statement
    take_over_keys: Statement
    read_keys: Statement
    repoint_keys: Statement
    take_uniques: Statement
    lock_uniques: Statement
    read_uniques: Statement
    repoint_uniques: Statement


@cache
def submit_statements(schema: str) -> SubmitStatements:
    """Return the statements of one schema; each takes ``array`` texts named like its columns."""
    parts = {
        "schema": quoted(schema).replace(":", r"\:"),
        "clock": _CLOCK,
        "jobs": _unnest(_JOB),
        "keys": _unnest(_KEY),
        "names": _unnest(_NAME),
        "pointers": _unnest({**_NAME, "job_id": "bigint"}),
        "uniques": _unnest(_UNIQUE),
        "unique_names": _unnest({"unique_key": "text"}),
    }
    of_keys = (_TAKE_KEYS, _TAKE_OVER_KEYS, _READ_KEYS, _REPOINT_KEYS)
    of_uniques = (_TAKE_UNIQUES, _LOCK_UNIQUES, _READ_UNIQUES, _REPOINT_UNIQUES)
    all_of_them = (_INSERT, _BEGIN_COPY, _DRAW_IDS, *of_keys, *of_uniques)
    return SubmitStatements(schema, *(_statement(sql.format(**parts)) for sql in all_of_them))


def _unnest(columns: Mapping[str, str]) -> str:
    arrays = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in columns.items())
    return f"unnest({arrays}) WITH ORDINALITY AS u ({', '.join(columns)}, number)"


def _statement(sql: str) -> Statement:
    clause = text(sql)
    typed: dict[str, TypeEngine[Any]] = {
        "now": MOMENT,
        "number": Integer(),
        **dict.fromkeys((*_JOB, *_KEY, *_UNIQUE, "patience"), Text()),
    }
    used = [name for name in typed if re.search(rf":{name}\b", sql)]
    return Statement(clause.bindparams(*(bindparam(name, type_=typed[name]) for name in used)), writes=True)


def array(values: Iterable[object]) -> str:
    """Return an array as PostgreSQL's text: every driver can send it, and much faster than a list."""
    return arrays.joined(arrays.NULL if value is None else _element(value) for value in values)


def _element(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    return arrays.quoted(value.isoformat() if isinstance(value, datetime) else str(value))
