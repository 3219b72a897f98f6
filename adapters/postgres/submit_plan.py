"""One submit as a plan: submit keys are settled first, then unique options; what is left becomes jobs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from ...application.ports.submitter import Submission, Submitted
from ...domain import facts, retry
from .query import Plan
from .submit_batch import Batch
from .submit_keys import repoint_keys, settle_keys
from .submit_statements import array, submit_statements
from .submit_uniques import settle_uniques
from .tables import Tables

CHUNK = 1_000
"""Jobs in one statement; more would not make it faster."""

_OF_JOB = ("type", "queue", "priority", "max_attempts", "effect_key", "payload")
_OF_ORIGIN = ("actor", "request_id", "reason", "build")
_encode = msgspec.json.Encoder().encode


def submit_plan(
    tables: Tables, submissions: Sequence[Submission], now: datetime | None
) -> Plan[list[Submitted]]:
    """Answer every submission in order; raises KeyConflict, KeyInProgress.

    After an error the transaction, or a savepoint, has to be rolled back.
    """
    statements, batch = submit_statements(str(tables.jobs.schema)), Batch(submissions)
    if waits(submissions):
        if len(submissions) > 1:  # keys are taken in another order; ids follow that of the batch
            drawn = yield statements.draw_ids(number=len(submissions))
            batch.ids = {index: job_id for index, (job_id,) in enumerate(drawn)}
        yield from settle_keys(statements, batch, now)
        yield from settle_uniques(statements, batch, now)
        yield from repoint_keys(statements, batch)
    new = list(batch.open())
    for start in range(0, len(new), CHUNK):
        chunk = new[start : start + CHUNK]
        rows = yield statements.insert(
            **_columns([submission for _, submission in chunk]),
            job_id=array(batch.ids.get(index) for index, _ in chunk),
            now=now,
        )
        for (index, _), (job_id,) in zip(chunk, rows, strict=True):
            batch.answers[index] = Submitted(job_id)
    return batch.all_answers()


def waits(submissions: Iterable[Submission]) -> bool:
    """Whether keys are involved, so that other submitters may have to be waited for."""
    return any(submission.key or submission.unique_key for submission in submissions)


def _columns(submissions: Sequence[Submission]) -> Mapping[str, Any]:
    """Turn submissions into the insert's arrays."""
    commands = [submission.command for submission in submissions]
    jobs, origins = [c.specification for c in commands], [c.origin for c in commands]
    described = [facts.describe(job) for job in jobs]
    return {
        **{name: array(getattr(job, name) for job in jobs) for name in _OF_JOB},
        **{name: array(getattr(origin, name) for origin in origins) for name in _OF_ORIGIN},
        **{name: array(data[name] for data in described) for name in ("timeout_us", "lease_us")},
        "run_at": array(command.run_at for command in commands),
        "delay_us": array(retry.microseconds(command.delay or timedelta(0)) for command in commands),
        "retry": array(_encode(data["retry"]).decode() for data in described),
        "data": array(_encode(data).decode() for data in described),
    }
