"""Every command a job can be met with, in all variants a rule or an effect may tell apart."""

from collections.abc import Sequence
from datetime import timedelta

from fencepost.domain import commands as c
from fencepost.domain.token import Token
from support.crowd import OPERATOR, WORKER
from support.reports import every_report, one_of_each
from support.stores import START

ELSEWHERE = "99999999-9999-4999-8999-999999999999"
"""A claim nobody made."""
DELAY = timedelta(seconds=33, microseconds=5)
TIMES = c.HandlerTimes.of(START, timedelta(seconds=2, microseconds=9))
LATER = START + timedelta(days=3_000)


def tokens_for(job_id: int, granted: Sequence[Token]) -> list[Token]:
    """The latest token, and all kinds of wrong ones: never granted, another claim's, an earlier attempt's."""
    latest = granted[-1] if granted else Token(job_id, 1, ELSEWHERE)
    return [
        latest,
        Token(job_id, latest.attempt + 1, latest.claim_id),
        Token(job_id, latest.attempt, ELSEWHERE),
        granted[0] if len(granted) > 1 else Token(job_id, 0, latest.claim_id),
    ]


def reports_for(job_id: int, granted: Sequence[Token]) -> list[c.Report]:
    """All reports with the latest token, spread by different draws; one of each kind with every wrong one."""
    latest, *wrong = tokens_for(job_id, granted)
    reports: list[c.Report] = []
    for draw, times in ((0.0, None), (0.5, TIMES), (0.999, None)):
        reports += every_report(latest, WORKER, delay=DELAY, draw=draw, times=times)
    for token in wrong:
        reports += one_of_each(token, WORKER, delay=DELAY)
    return reports


OPERATIONS: tuple[c.Operation, ...] = (
    c.Cancel(origin=OPERATOR),
    c.Revoke(origin=OPERATOR),
    c.Revoke(origin=OPERATOR, cancel=True),
    *(
        c.Requeue(origin=OPERATOR, payload=payload, fresh_effect_key=fresh)
        for payload in (None, '{"again":true}')
        for fresh in (None, False, True)
    ),
    c.Edit(origin=OPERATOR),
    c.Edit(origin=OPERATOR, run_at=LATER),
    c.Edit(origin=OPERATOR, priority=0),
    c.Edit(origin=OPERATOR, queue="elsewhere"),
    c.Edit(origin=OPERATOR, payload='{"edited": "ß"}'),
    c.Edit(origin=OPERATOR, run_at=START, priority=9, queue="elsewhere", payload="{}"),
    c.Dismiss(origin=OPERATOR),
)
REPORTS = len(reports_for(1, ()))
HEARTBEATS = len(tokens_for(1, ()))
CLAIMS = 1
EXPIRIES = 3
SIZE = REPORTS + HEARTBEATS + len(OPERATIONS) + CLAIMS + EXPIRIES
"""How many jobs it takes to ask everything."""
