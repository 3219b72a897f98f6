"""Fenced reports: what the row decides, and what history answers when the token opens nothing."""

from collections.abc import Sequence
from datetime import datetime

from ...domain.commands import Report
from ...domain.decide import Refusal, decide
from ...domain.effects import ENDINGS
from ...domain.event import ControlEvent, JobEvent
from ...domain.retry import microseconds
from ...domain.token import Token
from ...domain.verdicts import Trace, judge, leaves_evidence
from ...domain.vocabulary import ControlEventName, EventName, Verdict
from .database import MemoryDatabase


def apply_reports(database: MemoryDatabase, reports: Sequence[Report], now: datetime) -> list[Verdict]:
    """Apply reports in job_id order and answer in the order given.

    Raises ValueError when a job is reported twice.
    """
    by_job = {report.token.job_id: report for report in reports}
    if len(by_job) != len(reports):
        raise ValueError("at most one report per job")
    verdicts = {job_id: _apply(database, report, now) for job_id, report in sorted(by_job.items())}
    return [verdicts[report.token.job_id] for report in reports]


def _apply(database: MemoryDatabase, report: Report, now: datetime) -> Verdict:
    job = database.jobs.get(report.token.job_id)
    if job is not None and database.is_locked(job.job_id):
        return Verdict.BUSY
    decision = decide(job, report, now)
    if not isinstance(decision, Refusal):
        database.append(decision)
        return Verdict.ACCEPTED
    if job is None or job.token == report.token:
        return decision.verdict
    return _mismatched(database, report, now)


def _mismatched(database: MemoryDatabase, report: Report, now: datetime) -> Verdict:
    of_attempt = [
        event for event in database.job_events[report.token.job_id] if _presents(event, report.token)
    ]
    granted = any(event.name is EventName.CLAIMED for event in of_attempt)
    ending = next((event for event in of_attempt if event.name in ENDINGS), None)
    trace = Trace(exists=True, granted=granted, ended_by=ending.caused_by if ending else None)
    if ending and leaves_evidence(trace, report.name):
        _leave_evidence(database, report, ending, now)
    return judge(trace, report.name)


def _presents(event: JobEvent, token: Token) -> bool:
    return event.attempt == token.attempt and event.claim_id == token.claim_id


def _leave_evidence(database: MemoryDatabase, report: Report, ending: JobEvent, now: datetime) -> None:
    """Write one ``report_refused`` unless this token's same command has left one already."""
    subject, token = f"job:{report.token.job_id}", report.token
    key = {"attempt": token.attempt, "claim_id": token.claim_id, "command": report.name.value}
    if any(
        event.subject == subject and key.items() <= event.data.items() for event in database.control_events
    ):
        return
    database.append_control(
        ControlEvent(
            subject=subject,
            name=ControlEventName.REPORT_REFUSED,
            at=now,
            actor=report.origin.actor,
            request_id=report.origin.request_id,
            reason=report.origin.reason,
            data={**key, "late_us": microseconds(now - ending.at)},
        )
    )
