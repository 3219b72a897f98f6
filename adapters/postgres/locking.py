"""The first statements of decisions made in Python: lock the rows, then look at the clock."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache

from sqlalchemy import bindparam, select, text

from ...domain.job import Job
from . import rows
from .arrays import numbers
from .pipeline import names
from .query import Plan, Statement
from .tables import MOMENT, tables
from .transitions_sql import CLOCK

# Evidence is inserted without touching a job, and defaults are computed before the insert gets its transaction id: an
# id owned early keeps positions inside what readers of the log can bound.
_OWN_XID = Statement(text("SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint)"), writes=False)
_CLOCK = Statement(text(f"SELECT {CLOCK}").bindparams(bindparam("now", type_=MOMENT)))


def lock_jobs(schema: str, job_ids: Iterable[int]) -> Plan[tuple[dict[int, Job], set[int]]]:
    """Lock rows in job_id order; return the jobs, and which of the others exist but are locked by somebody else."""
    yield _OWN_XID()
    wanted = sorted(job_ids)
    locked = yield _lock(schema)(job_ids=numbers(wanted))
    jobs = {job.job_id: job for job in map(rows.job, locked)}
    missing = [job_id for job_id in wanted if job_id not in jobs]
    if not missing:
        return jobs, set()
    found = yield _find(schema)(job_ids=numbers(missing))
    return jobs, {job_id for [job_id] in found}


def clock(now: datetime | None) -> Plan[datetime]:
    """Return the clock, read by a statement of its own."""
    [[at]] = yield _CLOCK(now=now)
    answer: datetime = at
    return answer


@cache
def _lock(schema: str) -> Statement:
    jobs = tables(schema).jobs
    return Statement(
        select(*rows.columns(jobs))
        .where(text("job_id = ANY (CAST(:job_ids AS bigint[]))"))
        .order_by(jobs.c.job_id)
        .with_for_update(skip_locked=True),
        writes=True,
    )


@cache
def _find(schema: str) -> Statement:
    return Statement(
        text(f"SELECT job_id FROM {names(schema).jobs} WHERE job_id = ANY (CAST(:job_ids AS bigint[]))")
    )
