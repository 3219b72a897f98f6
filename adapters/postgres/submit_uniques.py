"""Unique options: at most one unfinished job per key, or one per period; looked at by submits only.

A retry or a requeue never asks, so it can't be blocked: then there may be two unfinished jobs for a while.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...application.ports.submitter import Submitted
from ...domain.errors import KeyInProgress
from ...domain.retry import microseconds
from .submit_batch import Batch
from .submit_keys import PATIENCE, ROUNDS, Steps
from .submit_statements import SubmitStatements, array


def settle_uniques(statements: SubmitStatements, batch: Batch, now: datetime | None) -> Steps:
    """Let the first submission of each key have it, or answer with the job that holds it; raises KeyInProgress."""
    wanted = _firsts(batch)
    for _ in range(ROUNDS):
        if not wanted:
            return
        yield from _settle(statements, batch, wanted, now)
    raise KeyInProgress("the unique options keep changing hands")


def _firsts(batch: Batch) -> dict[str, int]:
    """Fold repeated keys of the batch; sorted, so that all submitters wait for each other in one order."""
    firsts: dict[str, int] = {}
    for index, submission in list(batch.open()):
        if submission.unique_key is not None:
            first = firsts.setdefault(submission.unique_key, index)
            if first != index:
                batch.shares[index] = first
    return dict(sorted(firsts.items()))


def _settle(
    statements: SubmitStatements, batch: Batch, wanted: dict[str, int], now: datetime | None
) -> Steps:
    """Remove from ``wanted`` what was taken or answered; what vanished in between stays."""
    rows = yield statements.take_uniques(**_columns(batch, wanted), patience=PATIENCE, now=now)
    for unique_key, job_id in rows:
        batch.ids[wanted.pop(unique_key)] = job_id
    if not wanted:
        return
    locked = [key for (key,) in (yield statements.lock_uniques(unique_key=array(wanted)))]
    for unique_key, job_id in (yield statements.read_uniques(unique_key=array(locked), now=now)):
        batch.answers[wanted.pop(unique_key)] = Submitted(job_id, created=False)
    free = {key: wanted[key] for key in locked if key in wanted}
    if free:
        for unique_key, job_id in (yield statements.repoint_uniques(**_columns(batch, free), now=now)):
            batch.ids[wanted.pop(unique_key)] = job_id


def _columns(batch: Batch, wanted: Mapping[str, int]) -> Mapping[str, Any]:
    periods = [batch.submissions[index].unique_for for index in wanted.values()]
    return {
        "unique_key": array(wanted),
        "job_id": array(batch.ids.get(index) for index in wanted.values()),
        "period_us": array(None if period is None else microseconds(period) for period in periods),
    }
