"""Claiming: one statement, one round trip."""

from functools import cache

from sqlalchemy import text

from ...application.ports.job_store import Claimed, ClaimedJob, ClaimRequest
from ...domain.limits import PRIORITY_MAX, PRIORITY_MIN
from ...domain.token import Token
from ...domain.vocabulary import CommandName, State
from .arrays import texts
from .pipeline import names, pipeline
from .query import Query, Row, Rows, Statement
from .transitions_sql import CLOCK, Transitions

_LEVELS = ", ".join(f"({priority})" for priority in range(PRIORITY_MAX, PRIORITY_MIN - 1, -1))
_FORESIGHT = 100
"""Rows of other types looked at for the next job due; beyond them a worker wakes up to look again."""
_JOB = "job_id, attempt, type, queue, payload, failures, max_attempts, timeout, lease, effect_key, run_at, claim_id"
_MORE = (
    ", j.priority, j.type, j.queue, CAST(j.payload AS text), j.max_attempts, j.timeout, j.lease, j.effect_key"
)
_CLAIM = Transitions(
    frozenset({CommandName.CLAIM}),
    constants={
        "claim_id": "uuid",
        **dict.fromkeys(("actor", "request_id", "reason", "build"), "text"),
    },
)


@cache
def _claim(schema: str) -> Statement:
    """Return the statement that claims.

    The queue's row is locked first, which makes a pause exact. The levels of priority are walked from the highest, and
    lower ones only when higher ones run dry: PostgreSQL produces, and so locks, no more rows than the outer limit
    asks for. As sub-selects, clock and queue are conditions of the index. The search for what is due later is as lazy.
    """
    of = names(schema)
    level = f"""
        FROM {of.jobs} AS j
        WHERE j.state = '{_CLAIM.source}' AND j.queue = (SELECT name FROM open_queue)
          AND j.priority = level.priority"""
    return Statement(
        text(f"""
WITH open_queue AS MATERIALIZED (
    SELECT name FROM {of.queues} WHERE name = CAST(:queue AS text) AND paused_at IS NULL FOR KEY SHARE
), clock AS MATERIALIZED (
    SELECT {CLOCK} AS at FROM (SELECT count(*) FROM open_queue) AS after_the_lock
), held AS MATERIALIZED (
    SELECT due.job_id FROM (VALUES {_LEVELS}) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT j.job_id{level}
          AND {_CLAIM.guard(job="j", now="(SELECT at FROM clock)")} AND j.type = ANY (CAST(:types AS text[]))
        ORDER BY j.run_at, j.job_id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED
    ) AS due LIMIT CAST(:limit AS integer)
), {pipeline(of, _CLAIM, returning=_MORE)}, later AS (
    SELECT min(soonest.run_at) - (SELECT at FROM clock) AS wait FROM (VALUES {_LEVELS}) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT near.run_at FROM (
            SELECT j.run_at, j.type, row_number() OVER (ORDER BY j.run_at) AS number{level}
              AND j.run_at > (SELECT at FROM clock)
        ) AS near
        WHERE near.type = ANY (CAST(:types AS text[])) OR near.number = {_FORESIGHT}
        ORDER BY near.run_at LIMIT 1
    ) AS soonest
)
SELECT later.wait, {_JOB.replace("claim_id", "CAST(claim_id AS text)")} FROM later LEFT JOIN moved ON true
ORDER BY priority DESC, run_at, job_id
"""),
        writes=True,
    )


@cache
def _claimed_by(schema: str) -> Statement:
    """Return the statement that finds what one claim call still runs, among the few running jobs."""
    columns = _JOB.replace("payload", "CAST(payload AS text)").replace("claim_id", "CAST(claim_id AS text)")
    return Statement(
        text(f"""
SELECT {columns} FROM {names(schema).jobs}
WHERE state = '{State.RUNNING}' AND claim_id = CAST(:claim_id AS uuid) ORDER BY job_id
""")
    )


def claim_query(schema: str, request: ClaimRequest, now: object) -> Query:
    """Return the claim for one request."""
    origin = request.origin
    return _claim(schema)(
        now=now,
        queue=request.queue,
        types=texts(sorted(request.types)),
        limit=request.limit,
        claim_id=request.claim_id,
        actor=origin.actor,
        request_id=origin.request_id,
        reason=origin.reason,
        build=origin.build,
    )


def claimed_by_query(schema: str, claim_id: str) -> Query:
    """Return the search for one claim call's jobs."""
    return _claimed_by(schema)(claim_id=claim_id)


def claimed(rows: Rows) -> Claimed:
    """Return the answer of a claim; without jobs there is one row, for the wait."""
    jobs = [job(row[1:]) for row in rows if row[1] is not None]
    return Claimed(jobs, rows[0][0])


def job(row: Row) -> ClaimedJob:
    """Return one claimed job."""
    job_id, attempt, type_, queue, payload, failures, most, timeout, lease, effect_key, run_at, claim_id = row
    return ClaimedJob(
        token=Token(job_id, attempt, claim_id),
        type=type_,
        queue=queue,
        payload=payload,
        failures=failures,
        max_attempts=most,
        timeout=timeout,
        lease=lease,
        effect_key=effect_key,
        run_at=run_at,
    )
