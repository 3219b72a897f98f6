"""Operations: the cold path, decided job by job in Python and written back set-wise."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache

from attrs import frozen
from sqlalchemy import Column, text
from sqlalchemy.dialects import postgresql

from ...domain.commands import Operation
from ...domain.decide import Refusal, decide
from ...domain.effects import EFFECTS
from ...domain.errors import Unavailable
from ...domain.event import JobEvent
from ...domain.evolve import evolve
from ...domain.job import Job
from ...domain.vocabulary import State, Verdict
from .arrays import values
from .database import Database
from .locking import clock, lock_jobs
from .pipeline import names
from .query import Plan, Statement
from .rousing import rouse
from .tables import tables

CHUNK = 1_000
"""Jobs in one transaction: locks are held only for a moment."""
_CHANGED = ("job_id", "seq", "state", "failures", "run_at", *EFFECTS)
_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]


@frozen
class _Writers:
    """The two statements of one schema, with the columns they take as arrays of texts."""

    rows: Statement
    events: Statement
    event_columns: tuple[str, ...]


async def operate(database: Database, job_ids: Sequence[int], operation: Operation) -> list[Verdict]:
    """Apply an operation in job_id order, chunk by chunk; when the database goes away in between, the rest is busy."""
    wanted = sorted(set(job_ids))
    verdicts: dict[int, Verdict] = {}
    for start in range(0, len(wanted), CHUNK):
        try:
            verdicts |= await _chunk(database, wanted[start : start + CHUNK], operation)
        except Unavailable:
            if not verdicts:
                raise
            verdicts |= dict.fromkeys(wanted[start:], Verdict.BUSY)
            break
    return [verdicts[job_id] for job_id in job_ids]


async def _chunk(database: Database, job_ids: Sequence[int], operation: Operation) -> dict[int, Verdict]:
    verdicts, queues = await database.run(
        lambda: operation_plan(database.schema, job_ids, operation, database.moment())
    )
    await rouse(database, queues)
    return verdicts


def operation_plan(
    schema: str, job_ids: Sequence[int], operation: Operation, now: datetime | None
) -> Plan[tuple[dict[int, Verdict], set[str]]]:
    """Return the verdicts, and the queues that have pending jobs of it: due or not, workers sleep until then.

    In the order of their ids, which must be given sorted, jobs are locked and changed in the caller's transaction.
    """
    jobs, busy = yield from lock_jobs(schema, job_ids)
    at = yield from clock(now)
    verdicts = dict.fromkeys(job_ids, Verdict.GONE) | dict.fromkeys(busy, Verdict.BUSY)
    moved: list[tuple[Job, JobEvent]] = []
    for job_id, job in jobs.items():
        decision = decide(job, operation, at)
        if isinstance(decision, Refusal):
            verdicts[job_id] = decision.verdict
        else:
            verdicts[job_id] = Verdict.ACCEPTED
            moved.append((evolve(job, decision), decision))
    if moved:
        writers = _writers(schema)
        yield writers.rows(**_arrays(_CHANGED, [job for job, _ in moved]))
        yield writers.events(**_arrays(writers.event_columns, [event for _, event in moved]))
    return verdicts, {job.queue for job, _ in moved if job.state is State.PENDING}


@cache
def _writers(schema: str) -> _Writers:
    of, every = names(schema), tables(schema)
    assignments = ", ".join(f"{name} = u.{name}" for name in _CHANGED[1:])
    columns = [column for column in every.job_events.columns if column.name != "position"]
    listed = ", ".join(column.name for column in columns)
    changed = [every.jobs.columns[name] for name in _CHANGED]
    rows = f"UPDATE {of.jobs} AS j SET {assignments} FROM {_unnest(changed)} WHERE j.job_id = u.job_id"
    events = f"INSERT INTO {of.job_events} ({listed}) SELECT {listed} FROM {_unnest(columns)}"
    return _Writers(
        Statement(text(rows), writes=True),
        Statement(text(events), writes=True),
        tuple(column.name for column in columns),
    )


def _unnest(columns: Iterable[Column[object]]) -> str:
    types = {column.name: column.type.compile(dialect=_DIALECT) for column in columns}
    arrays = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in types.items())
    return f"unnest({arrays}) AS u ({', '.join(types)})"


def _arrays(columns: Iterable[str], items: Sequence[Job] | Sequence[JobEvent]) -> dict[str, str]:
    return {name: values([getattr(item, name) for item in items]) for name in columns}
