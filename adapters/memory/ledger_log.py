"""Schedules and the ledger of firings as the checker reads them."""

from collections.abc import Iterator

from attrs import evolve

from ...domain import schedule_facts
from ...domain.event import ControlEvent
from ...domain.ledger import Entry
from ...domain.ledger_rows import LedgerRow, ScheduleRow, schedule_of
from ...domain.schedule import Schedule
from .database import MemoryDatabase

_SUBJECT = "schedule:"


def entries_by_job(database: MemoryDatabase) -> dict[int, list[LedgerRow]]:
    """Return the rows of all ledgers that name a job, by job_id."""
    found: dict[int, list[LedgerRow]] = {}
    for name in database.ledgers:
        for row in _ledger(database, name):
            if row.job_id is not None:
                found.setdefault(row.job_id, []).append(row)
    return found


def schedules(database: MemoryDatabase) -> Iterator[ControlEvent | ScheduleRow | LedgerRow]:
    """Yield, by name: a schedule's control events by position, its row if there is one, its ledger."""
    told: dict[str, list[ControlEvent]] = {}
    for event in database.control_events:
        if event.subject.startswith(_SUBJECT):
            told.setdefault(schedule_of(event), []).append(event)
    for name in sorted(told.keys() | database.schedules.keys() | database.ledgers.keys()):
        yield from told.get(name, ())
        if name in database.schedules:
            yield _schedule_row(database.schedules[name])
        yield from _ledger(database, name)


def _ledger(database: MemoryDatabase, name: str) -> list[LedgerRow]:
    rows = [_ledger_row(name, entry) for entry in database.ledgers.get(name, {}).values()]
    return sorted(rows, key=lambda row: (row.fire_at, row.origin))


def _ledger_row(name: str, entry: Entry) -> LedgerRow:
    firing = entry.firing
    return LedgerRow(
        schedule=name,
        fire_at=firing.fire_at,
        origin=firing.origin,
        outcome=firing.outcome.value,
        reason=firing.reason.value,
        until=firing.last,
        count=firing.count,
        job_id=firing.job_id,
        version=entry.version,
        tz_version=entry.tz_version,
        decided_at=entry.decided_at,
    )


def _schedule_row(one: Schedule) -> ScheduleRow:
    return ScheduleRow(
        name=one.name,
        version=one.version,
        definition=schedule_facts.describe(one.definition),
        next_fire_at=one.next_fire_at,
        paused_at=one.paused_at,
        waiting=None if one.waiting is None else evolve(one.waiting, cancels=False),
    )
