"""Claiming: one statement, one round trip."""

from datetime import datetime, timedelta
from functools import cache, lru_cache
from uuid import UUID

from attrs import frozen
from sqlalchemy import text

from ...application.ports.job_store import ClaimedJob, ClaimRequest
from ...domain.token import Token
from ...domain.vocabulary import CommandName, State
from .arrays import numbers, texts, words
from .frontier import FULL, LEVELS, MARGIN, Place, Scan
from .pipeline import names, pipeline
from .query import Query, Row, Rows, Statement
from .transitions_sql import CLOCK, Transitions

_FORESIGHT = 100
"""Rows of other types looked at for the next job due; beyond them a worker wakes up to look again."""
_SEEN = "coalesce(CAST(:now AS timestamptz), statement_timestamp())"
"""No later than the snapshot: a claim that waits for a lock does not see what is submitted meanwhile."""
_LEVELS = f"CAST('{{{','.join(map(str, LEVELS))}}}' AS smallint[])"
_JOB = "job_id, attempt, type, payload, failures, max_attempts, timeout, lease, effect_key, run_at, scheduled_for"
_MORE = (
    ", j.priority, j.type, CAST(j.payload AS text), j.max_attempts, j.timeout, j.lease, j.effect_key, "
    "j.scheduled_for"
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

    The queue's row is locked first, which makes a pause exact. The levels of priority are walked from the highest, each
    from its frontier, and lower ones only when higher ones run dry: PostgreSQL produces, and so locks, no more rows
    than the outer limit asks for. As sub-selects, clock and queue are conditions of the index. What is due later is
    looked for as lazily, row by row (a window by default reads all rows of one run_at), and not at all when the limit
    was reached. The first row is no job: its attempt is the number of open queues, its failures that of jobs held, its
    timeout the time the search took, its lease the wait, its run_at the clock.
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
    SELECT {CLOCK} AS at, {_SEEN} AS seen, {_SEEN} - CAST(:margin AS interval) AS margin, clock_timestamp() AS began
    FROM (SELECT count(*) FROM open_queue) AS after_the_lock
), held AS MATERIALIZED (
    SELECT due.tid, due.job_id FROM (
        SELECT f.priority, least(f.run_at, (SELECT margin FROM clock)) AS run_at,
               CASE WHEN f.run_at > (SELECT margin FROM clock) THEN 0 ELSE f.job_id END AS job_id
        FROM unnest({_LEVELS}, CAST(:run_ats AS timestamptz[]), CAST(:job_ids AS bigint[]))
            AS f (priority, run_at, job_id)
    ) AS level CROSS JOIN LATERAL (
        SELECT j.ctid AS tid, j.job_id{level} AND (j.run_at, j.job_id) > (level.run_at, level.job_id)
          AND {_CLAIM.guard(job="j", now="(SELECT at FROM clock)")} AND j.type = ANY (CAST(:types AS text[]))
        ORDER BY j.run_at, j.job_id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED
    ) AS due LIMIT CAST(:limit AS integer)
), {pipeline(of, _CLAIM, returning=_MORE)}, later AS (
    SELECT min(soonest.run_at) - (SELECT at FROM clock) AS wait FROM unnest({_LEVELS}) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT near.run_at FROM (
            SELECT j.run_at, j.type, row_number() OVER next AS number{level}
              AND j.run_at > (SELECT at FROM clock)
            WINDOW next AS (ORDER BY j.run_at ROWS UNBOUNDED PRECEDING)
        ) AS near
        WHERE near.type = ANY (CAST(:types AS text[])) OR near.number = {_FORESIGHT}
        ORDER BY near.run_at LIMIT 1
    ) AS soonest
    WHERE (SELECT count(*) FROM held) < CAST(:limit AS integer)
)
SELECT NULL AS priority, NULL AS job_id, (SELECT count(*) FROM open_queue) AS attempt, NULL AS type, NULL AS payload,
       (SELECT count(*) FROM held) AS failures, NULL AS max_attempts,
       clock_timestamp() - (SELECT began FROM clock) AS timeout, wait AS lease, NULL AS effect_key,
       (SELECT seen FROM clock) AS run_at, NULL AS scheduled_for
FROM later
UNION ALL SELECT priority, {_JOB} FROM moved
ORDER BY priority DESC NULLS FIRST, run_at, job_id
"""),
        writes=True,
    )


@cache
def _claimed_by(schema: str) -> Statement:
    """Return the statement that finds what one claim call still runs, among the few running jobs."""
    return Statement(
        text(f"""
SELECT queue, {_JOB.replace("payload", "CAST(payload AS text)")} FROM {names(schema).jobs}
WHERE state = '{State.RUNNING}' AND claim_id = CAST(:claim_id AS uuid) ORDER BY job_id
""")
    )


def claim_query(schema: str, request: ClaimRequest, now: object, scan: Scan = FULL) -> Query:
    """Return the claim for one request, beginning where ``scan`` says."""
    origin = request.origin
    places = [scan.places.get(level) for level in LEVELS]
    return _claim(schema)(
        now=now,
        queue=request.queue,
        types=_types(request.types),
        limit=request.limit,
        margin=MARGIN,
        run_ats=words(["-infinity" if place is None else _moment(place[0]) for place in places]),
        job_ids=numbers([0 if place is None else place[1] for place in places]),
        claim_id=request.claim_id,
        actor=origin.actor,
        request_id=origin.request_id,
        reason=origin.reason,
        build=origin.build,
    )


# Most claims name the same types, and one moment for nearly all levels.


@lru_cache(maxsize=1_000)
def _types(types: frozenset[str]) -> str:
    return texts(sorted(types))


_moment = lru_cache(maxsize=100)(datetime.isoformat)


def claimed_by_query(schema: str, claim_id: str) -> Query:
    """Return the search for one claim call's jobs."""
    return _claimed_by(schema)(claim_id=claim_id)


@frozen
class Answer:
    """A claim's rows, read: the jobs and where the last was found, and what the database says about the search.

    ``held`` jobs were locked: more than were claimed, when some had been changed since the claim's snapshot. Until
    ``clock`` what was committed was seen. The search took ``took``, without waiting for locks or for the network.
    """

    jobs: list[ClaimedJob]
    last: tuple[int, Place] | None
    held: int
    clock: datetime
    took: timedelta
    wait: timedelta | None
    open: bool


def answer(request: ClaimRequest, rows: Rows) -> Answer:
    """Read what a claim returned."""
    [_, _, is_open, _, _, held, _, took, wait, _, clock, _], *claimed = rows
    claim_id = str(UUID(request.claim_id))
    queue = request.queue
    new = tuple.__new__  # what classes of named tuples call, without the calls in between
    jobs = [
        new(ClaimedJob, (new(Token, (job_id, attempt, claim_id)), type_, queue, *more))
        for _, job_id, attempt, type_, *more in claimed
    ]
    last = (claimed[-1][0], (claimed[-1][10], claimed[-1][1])) if claimed else None
    return Answer(jobs, last, held, clock, took, wait, bool(is_open))


def job(row: Row, queue: str, claim_id: str) -> ClaimedJob:
    """Return one claimed job."""
    job_id, attempt, type_, *more = row
    return ClaimedJob(Token(job_id, attempt, claim_id), type_, queue, *more)
