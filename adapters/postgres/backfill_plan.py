"""How backfills begin and end, in the transaction of whatever brings that about: each with its event."""

from datetime import datetime

from ...domain import backfill_facts as facts
from ...domain.backfill import Backfill, Ending, ended
from ...domain.commands import Origin
from ...domain.vocabulary import ControlEventName as Name
from . import backfill_rows as rows
from .backfill_statements import backfill_statements
from .query import Plan, Query
from .schedule_plan import note


def begun(schema: str, backfill: Backfill) -> Plan[None]:
    """Write a new backfill, which may have ended already."""
    data, at = facts.beginning(backfill), backfill.requested_at
    yield backfill_statements(schema).insert(**rows.columns(backfill))
    yield note(schema, backfill.schedule, Name.SCHEDULE_BACKFILL_STARTED, backfill.origin, at, data)
    if backfill.ended_at is not None:
        yield _end_note(schema, backfill, facts.finisher(backfill), backfill.ended_at)


def moved(schema: str, backfill: Backfill) -> Plan[None]:
    """Write how far a backfill has come."""
    yield backfill_statements(schema).move(**rows.standing(backfill))
    if backfill.ended_at is not None:
        yield _end_note(schema, backfill, facts.finisher(backfill), backfill.ended_at)


def ended_early(schema: str, backfill: Backfill, ending: Ending, origin: Origin, at: datetime) -> Plan[None]:
    """End a backfill that is locked; jobs that it has made stay."""
    over = ended(backfill, ending, at)
    yield backfill_statements(schema).move(**rows.standing(over))
    yield _end_note(schema, over, origin, at)


def all_ended(schema: str, name: str, origin: Origin, at: datetime) -> Plan[None]:
    """End the backfills of a schedule that is deleted, whose row is locked."""
    undone = yield backfill_statements(schema).undone(name=name)
    for row in undone:
        yield from ended_early(schema, rows.backfill(row), Ending.DELETED, origin, at)


def _end_note(schema: str, backfill: Backfill, origin: Origin, at: datetime) -> Query:
    return note(schema, backfill.schedule, Name.SCHEDULE_BACKFILL_ENDED, origin, at, facts.end(backfill))
