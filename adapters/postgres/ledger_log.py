"""Schedules and the ledger of firings as the checker reads them: what is there, sane or not."""

from collections.abc import AsyncIterator, Callable
from functools import cache

import msgspec
from attrs import frozen
from sqlalchemy import BigInteger, bindparam, collate, select, text

from ...domain.event import ControlEvent
from ...domain.job import Job
from ...domain.ledger_rows import LedgerRow, ScheduleRow, schedule_of
from ...domain.schedule import Slot
from .query import Query, Row, Statement
from .rows import columns, control_event
from .snapshot import Snapshot
from .tables import tables
from .waking import quoted

Item = ControlEvent | ScheduleRow | LedgerRow
BATCH = 2_000
# Somebody may have written moments that Python cannot hold; any that no schedule has will do instead.
_MOMENT = (
    "least(greatest(f.{0}, timestamptz '1970-01-01 00\\:00Z'), timestamptz '9999-12-31 23\\:59\\:59.999999Z')"
)
_LEDGER = f"""
SELECT f.schedule, {_MOMENT.format("fire_at")}, f.origin, f.outcome, f.reason, {_MOMENT.format("until")}, f.count,
    f.job_id, f.version, f.tz_version, {_MOMENT.format("decided_at")}
FROM {{schema}}.firings AS f
"""
_SCHEDULES = """
SELECT name, version, CAST(definition AS text), next_fire_at, paused_at, waiting, waiting_origin
FROM {schema}.schedules ORDER BY name
"""
_decode = msgspec.json.Decoder().decode


@frozen
class LedgerStatements:
    """All of them, in one schema."""

    by_job: Statement
    of_job: Statement
    by_schedule: Statement
    schedules: Statement
    controls: Statement


@cache
def ledger_statements(schema: str) -> LedgerStatements:
    """Return the statements of one schema; schedules come in one order from all of them."""
    name = quoted(schema).replace(":", r"\:")
    ledger, controls = _LEDGER.format(schema=name), tables(schema).control_events
    one = bindparam("job_id", type_=BigInteger)
    return LedgerStatements(
        by_job=_read(f"{ledger} WHERE f.job_id IS NOT NULL ORDER BY f.job_id"),
        of_job=Statement(text(f"{ledger} WHERE f.job_id = :job_id").bindparams(one), writes=False),
        by_schedule=_read(f"{ledger} ORDER BY f.schedule, f.fire_at, f.origin"),
        schedules=_read(_SCHEDULES.format(schema=name)),
        controls=Statement(
            select(*columns(controls))
            .where(controls.c.subject.like("schedule:%"))
            .order_by(collate(controls.c.subject, "C"), controls.c.position)
        ),
    )


async def with_ledger(
    snapshot: Snapshot, schema: str, jobs: AsyncIterator[Job], job_id: int | None
) -> AsyncIterator[tuple[int, LedgerRow | Job]]:
    """Yield jobs in order of job_id, each after its rows of the ledger, which may name jobs that are gone."""
    statements = ledger_statements(schema)
    query = statements.by_job() if job_id is None else statements.of_job(job_id=job_id)
    entries = _entries(snapshot, query)
    entry, job = await anext(entries, None), await anext(jobs, None)
    while entry is not None or job is not None:
        named = None if entry is None else entry.job_id
        if job is None or (entry is not None and named is not None and named <= job.job_id):
            assert entry is not None
            yield named or 0, entry
            entry = await anext(entries, None)
        else:
            yield job.job_id, job
            job = await anext(jobs, None)


async def schedules(snapshot: Snapshot, schema: str) -> AsyncIterator[Item]:
    """Yield, by name: a schedule's control events by position, its row if there is one, its ledger."""
    statements = ledger_statements(schema)
    controls = _named(snapshot, statements.controls(), control_event)
    rows = _named(snapshot, statements.schedules(), _schedule_row)
    ledger = _named(snapshot, statements.by_schedule(), _ledger_row)
    sources = (controls, rows, ledger)
    heads = [await anext(source, None) for source in sources]
    while names := [head[0] for head in heads if head is not None]:
        name = min(names)
        for index, source in enumerate(sources):
            while (head := heads[index]) is not None and head[0] == name:
                yield head[1]
                heads[index] = await anext(source, None)


async def _named(
    snapshot: Snapshot, query: Query, read: Callable[[Row], Item]
) -> AsyncIterator[tuple[str, Item]]:
    async for batch in snapshot.batches(query, BATCH):
        for row in batch:
            item = read(row)
            yield schedule_of(item), item


async def _entries(snapshot: Snapshot, query: Query) -> AsyncIterator[LedgerRow]:
    async for batch in snapshot.batches(query, BATCH):
        for row in batch:
            yield _ledger_row(row)


def _ledger_row(row: Row) -> LedgerRow:
    schedule, fire_at, origin, outcome, reason, until, count, job_id, version, tz_version, decided_at = row
    return LedgerRow(
        schedule=schedule,
        fire_at=fire_at,
        origin=origin,
        outcome=outcome,
        reason=reason,
        until=until,
        count=count,
        job_id=job_id,
        version=version,
        tz_version=tz_version,
        decided_at=decided_at,
    )


def _schedule_row(row: Row) -> ScheduleRow:
    name, version, definition, next_fire_at, paused_at, waiting, origin = row
    return ScheduleRow(
        name=name,
        version=version,
        definition=_decode(definition),
        next_fire_at=next_fire_at,
        paused_at=paused_at,
        waiting=None if waiting is None else Slot(waiting, origin),
    )


def _read(sql: str) -> Statement:
    return Statement(text(sql), writes=False)
