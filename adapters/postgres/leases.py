"""Heartbeats and the reaper."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache

from sqlalchemy import text

from ...application.ports.job_store import LeaseAnswer
from ...domain.limits import CANCEL_GRACE
from ...domain.token import Token
from ...domain.vocabulary import CommandName, State, Verdict
from .arrays import numbers, words
from .identity import known_form
from .pipeline import names, pipeline
from .query import Query, Rows, Statement
from .transitions_sql import CLOCK, Transitions, columns_of

REAPER = "reaper"
_EXPIRE = Transitions(frozenset({CommandName.EXPIRE}), constants={"actor": "text"})
_GRACE = f"interval '{CANCEL_GRACE // timedelta(microseconds=1)} microseconds'"


@cache
def _heartbeat(schema: str) -> Statement:
    """Return the statement that extends leases as ``domain.decide.renew`` does; no indexed column changes (HOT)."""
    of = names(schema)
    held = f"""j.job_id = b.job_id AND j.attempt = b.attempt AND j.claim_id = b.claim_id
          AND (j.state || '') = '{State.RUNNING}'"""
    return Statement(
        text(f"""
WITH beat AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:job_ids AS bigint[]), CAST(:attempts AS bigint[]), CAST(:claim_ids AS uuid[]))
        WITH ORDINALITY AS b (job_id, attempt, claim_id, number)
), held AS MATERIALIZED (
    SELECT b.number, j.job_id FROM beat AS b
    CROSS JOIN LATERAL (SELECT j.job_id FROM {of.jobs} AS j WHERE {held} FOR UPDATE SKIP LOCKED) AS j
), clocked AS MATERIALIZED (
    SELECT h.*, {CLOCK} AS at FROM held AS h
), renewed AS (
    UPDATE {of.jobs} AS j
    SET heartbeats = j.heartbeats + 1,
        lease_expires_at = CASE WHEN j.cancel_requested_at + {_GRACE} < h.at THEN j.lease_expires_at
                                ELSE greatest(j.lease_expires_at, h.at + j.lease) END
    FROM clocked AS h WHERE j.job_id = h.job_id
    RETURNING h.number, j.cancel_requested_at IS NOT NULL AS cancel_requested
)
SELECT number, '{Verdict.ACCEPTED}', cancel_requested FROM renewed
UNION ALL
SELECT b.number, '{Verdict.BUSY}', false FROM beat AS b
CROSS JOIN LATERAL (SELECT FROM {of.jobs} AS j WHERE {held} OFFSET 0) AS running
WHERE NOT EXISTS (SELECT FROM held AS h WHERE h.number = b.number)
"""),
        writes=True,
    )


@cache
def _reap(schema: str) -> Statement:
    """Return the statement that expires lapsed leases; the clock of the search is earlier, which is harmless."""
    of = names(schema)
    kept = columns_of("j", ["job_id", "claim_id", *_EXPIRE.held])
    draw = ", (CAST(:draws AS float8[]))[row_number() OVER (ORDER BY h.job_id)] AS draw"
    return Statement(
        text(f"""
WITH held AS MATERIALIZED (
    SELECT j.ctid AS tid, {kept} FROM {of.jobs} AS j
    WHERE j.state = '{_EXPIRE.source}' AND {_EXPIRE.guard(job="j", now=f"(SELECT {CLOCK})")}
    ORDER BY j.job_id LIMIT CAST(:limit AS integer) FOR UPDATE SKIP LOCKED
), {pipeline(of, _EXPIRE, extra=draw, returning=", j.queue")}
SELECT count(*), array_agg(DISTINCT queue) FROM moved
"""),
        writes=True,
    )


def heartbeat_query(schema: str, tokens: Sequence[Token], now: object) -> Query:
    """Return the heartbeat for distinct tokens sorted by job_id."""
    return _heartbeat(schema)(
        now=now,
        job_ids=numbers([token.job_id for token in tokens]),
        attempts=numbers([token.attempt for token in tokens]),
        claim_ids=words([known_form(token.claim_id) for token in tokens]),
    )


def lease_answers(tokens: Sequence[Token], rows: Rows) -> Mapping[Token, LeaseAnswer]:
    """Return the answer for each token; one that no row answers has lost its lease."""
    answers = dict.fromkeys(tokens, LeaseAnswer(Verdict.REFUSED))
    for number, verdict, cancel_requested in rows:
        answers[tokens[number - 1]] = LeaseAnswer(Verdict(verdict), cancel_requested)
    return answers


def reap_query(schema: str, limit: int, draws: Sequence[float], now: object) -> Query:
    """Return the reaper's statement, for no more leases than there are draws."""
    return _reap(schema)(now=now, limit=min(limit, len(draws)), draws=numbers(draws), actor=REAPER)
