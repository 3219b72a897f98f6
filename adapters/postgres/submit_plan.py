"""One submit as a plan: submit keys are settled first, then unique options; what is left becomes jobs."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...application.ports.runs import Runs, runs
from ...application.ports.submitter import Submission, Submitted
from .query import Plan
from .submit_batch import Batch
from .submit_copy import copied
from .submit_insert import inserted
from .submit_keys import Steps, repoint_keys, settle_keys
from .submit_statements import SubmitStatements, submit_statements
from .submit_uniques import settle_uniques
from .tables import Tables

COPIED_FROM = 250
"""New jobs from which on a COPY is faster than an INSERT, although it takes four round trips more."""


def submit_plan(
    tables: Tables, submissions: Sequence[Submission], now: datetime | None, *, copies: bool = False
) -> Plan[list[Submitted]]:
    """Answer every submission in order; raises KeyConflict, KeyInProgress.

    After an error the transaction, or a savepoint, has to be rolled back. ``copies`` says that whoever runs the plan
    can run a ``CopyIn``.
    """
    schema = str(tables.jobs.schema)
    statements = submit_statements(schema)
    if not waits(submissions):
        store = copied if copies and is_large(submissions) else inserted
        return list(map(Submitted, (yield from store(statements, runs(submissions), (), now))))
    batch = Batch(list(submissions))
    yield from _settled(statements, batch, now)
    new = list(batch.open())
    fresh, drawn = [submission for _, submission in new], [batch.ids.get(index) for index, _ in new]
    store = copied if copies and is_large(fresh) else inserted
    ids = yield from store(statements, runs(fresh), drawn, now)
    batch.answers |= {index: Submitted(job_id) for (index, _), job_id in zip(new, ids, strict=True)}
    return batch.all_answers()


def waits(submissions: Iterable[Submission]) -> bool:
    """Whether keys are involved, so that other submitters may have to be waited for."""
    firsts = (run.first for run in submissions.runs) if isinstance(submissions, Runs) else submissions
    return any(submission.key or submission.unique_key for submission in firsts)


def is_large(submissions: Sequence[Submission]) -> bool:
    """Whether so many jobs are worth a COPY."""
    return len(submissions) >= COPIED_FROM


def _settled(statements: SubmitStatements, batch: Batch, now: datetime | None) -> Steps:
    """Answer what keys and unique options lead to earlier jobs; the rest has ids then, but for a single one."""
    if len(batch.submissions) > 1:  # keys are taken in another order; ids follow that of the batch
        drawn = yield statements.draw_ids(number=len(batch.submissions))
        batch.ids = {index: job_id for index, (job_id,) in enumerate(drawn)}
    yield from settle_keys(statements, batch, now)
    yield from settle_uniques(statements, batch, now)
    yield from repoint_keys(statements, batch)
