"""Reading the ledger before a decision: the row that skips may go on in, and slots that have had their decision."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from attrs import frozen

from ...domain.decided import NONE, DecidedSlots
from ...domain.ledger import Entry
from ...domain.schedule import Schedule
from .arrays import texts, values
from .query import Plan
from .schedule_rows import entry, firing
from .schedule_statements import schedule_statements


@frozen
class Past:
    """What a new decision about a schedule has to know of its ledger."""

    newest: Entry | None = None
    decided: DecidedSlots = NONE


NOTHING = Past()


def pasts(schema: str, schedules: Sequence[Schedule], at: datetime) -> Plan[Mapping[str, Past]]:
    """Return what decisions at ``at`` have to know, by schedule; those with nothing due are left out."""
    due = [one for one in schedules if one.next_fire_at is not None and one.next_fire_at <= at]
    if not due:
        return {}
    found = yield schedule_statements(schema).newest(names=texts([one.name for one in due]))
    newest = {name: entry(row) for name, *row in found}
    again = [one for one in due if one.name in newest and _is_behind(one, newest[one.name])]
    decided = yield from _decided(schema, again, at)
    return {one.name: Past(newest.get(one.name), decided.get(one.name, NONE)) for one in due}


def past(schema: str, schedule: Schedule, at: datetime) -> Plan[Past]:
    """Return the same for one schedule."""
    return (yield from pasts(schema, [schedule], at)).get(schedule.name, NOTHING)


def _is_behind(schedule: Schedule, newest: Entry) -> bool:
    """Whether the clock has stepped back and somebody changed the schedule since."""
    return schedule.next_fire_at is not None and schedule.next_fire_at <= newest.firing.last


def _decided(schema: str, schedules: Sequence[Schedule], at: datetime) -> Plan[dict[str, DecidedSlots]]:
    if not schedules:
        return {}
    found = yield schedule_statements(schema).decided(
        names=texts([one.name for one in schedules]),
        since=values([one.next_fire_at for one in schedules]),
        at=at,
    )
    return {
        one.name: DecidedSlots(firing(row) for name, *row in found if name == one.name) for one in schedules
    }
