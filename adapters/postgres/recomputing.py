"""Next fire times that come from older rules of time zones are computed anew, before anybody acts on them."""

from collections.abc import Sequence
from datetime import datetime

from ...domain import schedule_facts
from ...domain.firing_jobs import newer_rules
from ...domain.schedule import Schedule
from ...domain.schedule_changes import rezoned
from ...domain.vocabulary import ControlEventName
from ...domain.zones import TZ_VERSION
from .arrays import texts
from .firing_plan import standings
from .locking import clock
from .query import Plan, Query
from .schedule_plan import note
from .schedule_statements import schedule_statements


def outdated(schema: str, limit: int, moment: datetime | None) -> Query:
    """Return the statement that locks so many schedules whose next fire times come from older rules."""
    return schedule_statements(schema).outdated(now=moment, tz_version=TZ_VERSION, limit=limit)


def recomputed(schema: str, schedules: Sequence[Schedule], moment: datetime | None) -> Plan[None]:
    """Move schedules whose rows are locked."""
    statements = schedule_statements(schema)
    at = yield from clock(moment)
    moved = [after for one in schedules if (after := rezoned(one, at)) != one]
    if moved:
        yield statements.stand(**standings(moved))
    for schedule in moved:
        data = schedule_facts.describe_change(schedule, ControlEventName.SCHEDULE_EDITED)
        origin = newer_rules(schedule)
        yield note(schema, schedule.name, ControlEventName.SCHEDULE_EDITED, origin, at, data)
    yield statements.stamp(names=texts([one.name for one in schedules]), tz_version=TZ_VERSION)
