"""What to answer reports that no row accepted, in a transaction with a fresh snapshot.

The first statement's snapshot would call a report refused that has just landed. And whatever is answered from was
locked: a lock writes to the log, so that COMMIT waits for the standby again, as the first answer did.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from attrs import frozen
from msgspec import json
from sqlalchemy import text

from ...domain.commands import Report
from ...domain.decide import matching_rule
from ...domain.effects import ENDINGS
from ...domain.event import IMPLIED
from ...domain.job import Job
from ...domain.retry import microseconds
from ...domain.verdicts import Trace, leaves_evidence
from ...domain.verdicts import judge as verdict_of
from ...domain.vocabulary import CommandName, ControlEventName, EventName, Verdict
from .arrays import numbers, texts, words
from .identity import known_form
from .locking import clock, lock_jobs
from .pipeline import names
from .query import Plan, Query, Row, Statement

_OF_INTEREST = ", ".join(f"'{name}'" for name in (EventName.CLAIMED, *ENDINGS))


@frozen
class Remembered:
    """What history says about one token, and when its attempt ended."""

    trace: Trace
    ended_at: datetime | None = None


def judge(schema: str, reports: Sequence[Report], now: datetime | None) -> Plan[dict[int, Verdict]]:
    """Answer each report, and leave evidence of those whose token was once granted."""
    jobs, busy = yield from lock_jobs(schema, [report.token.job_id for report in reports])
    at = yield from clock(now)
    verdicts = dict.fromkeys(busy, Verdict.BUSY)
    stale = []
    for report in reports:
        job = jobs.get(report.token.job_id)
        if job is None:
            verdicts.setdefault(report.token.job_id, Verdict.GONE)
        elif job.token == report.token:
            verdicts[job.job_id] = _presented_rightly(job, report, at)
        else:
            stale.append(report)
    if stale:
        verdicts |= yield from _from_history(schema, stale, at)
    return verdicts


def _presented_rightly(job: Job, report: Report, at: datetime) -> Verdict:
    """Answer a report whose token opens its job: the row was locked a moment ago, or the table has no rule for it."""
    return Verdict.REFUSED if matching_rule(job, report, at) is None else Verdict.BUSY


def _from_history(schema: str, reports: Sequence[Report], at: datetime) -> Plan[dict[int, Verdict]]:
    rows = yield _traces(schema)(
        job_ids=numbers([report.token.job_id for report in reports]),
        attempts=numbers([report.token.attempt for report in reports]),
        claim_ids=words([known_form(report.token.claim_id) for report in reports]),
    )
    remembered = _remembered(rows)
    known = [
        (report, remembered.get(report.token.job_id, Remembered(Trace(exists=True)))) for report in reports
    ]
    late = [(report, memory) for report, memory in known if leaves_evidence(memory.trace, report.name)]
    if late:
        yield _evidence(schema, late, at)
    return {report.token.job_id: verdict_of(memory.trace, report.name) for report, memory in known}


def _remembered(rows: Iterable[Row]) -> Mapping[int, Remembered]:
    """Return what history knows, by job: the rows are the events of the tokens' attempts."""
    found: dict[int, Remembered] = {}
    for job_id, name, command, at in rows:
        before = found.get(job_id, Remembered(Trace(exists=True)))
        if name == EventName.CLAIMED:
            trace = Trace(exists=True, granted=True, ended_by=before.trace.ended_by)
            found[job_id] = Remembered(trace, before.ended_at)
        else:
            ended_by = CommandName(command) if command else IMPLIED[EventName(name)]
            found[job_id] = Remembered(
                Trace(exists=True, granted=before.trace.granted, ended_by=ended_by), at
            )
    return found


@cache
def _traces(schema: str) -> Statement:
    return Statement(
        text(f"""
SELECT e.job_id, e.name, e.command, e.at
FROM unnest(CAST(:job_ids AS bigint[]), CAST(:attempts AS bigint[]), CAST(:claim_ids AS uuid[]))
    AS t (job_id, attempt, claim_id)
JOIN {names(schema).job_events} AS e
  ON e.job_id = t.job_id AND e.attempt = t.attempt AND e.claim_id = t.claim_id AND e.name IN ({_OF_INTEREST})
ORDER BY e.job_id, e.seq
""")
    )


@cache
def _leave_evidence(schema: str) -> Statement:
    return Statement(
        text(f"""
INSERT INTO {names(schema).control_events} (subject, name, at, actor, request_id, reason, data)
SELECT subject, '{ControlEventName.REPORT_REFUSED}', CAST(:at AS timestamptz), actor, request_id, reason,
       CAST(data AS jsonb)
FROM unnest(CAST(:subjects AS text[]), CAST(:actors AS text[]), CAST(:request_ids AS text[]),
    CAST(:reasons AS text[]), CAST(:datas AS text[])) AS r (subject, actor, request_id, reason, data)
ON CONFLICT DO NOTHING
"""),
        writes=True,
    )


def _evidence(schema: str, late: Sequence[tuple[Report, Remembered]], at: datetime) -> Query:
    return _leave_evidence(schema)(
        at=at,
        subjects=texts([f"job:{report.token.job_id}" for report, _ in late]),
        actors=texts([report.origin.actor for report, _ in late]),
        request_ids=texts([report.origin.request_id for report, _ in late]),
        reasons=texts([report.origin.reason for report, _ in late]),
        datas=texts([_data(report, memory, at) for report, memory in late]),
    )


def _data(report: Report, memory: Remembered, at: datetime) -> str:
    late_us = 0 if memory.ended_at is None else microseconds(at - memory.ended_at)
    token = report.token
    data: dict[str, Any] = {
        "attempt": token.attempt,
        "claim_id": token.claim_id,
        "command": report.name.value,
    }
    return json.encode({**data, "late_us": late_us}).decode()
