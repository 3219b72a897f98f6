"""What every change of one schedule begins and ends with: its row locked, an event written."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...domain.commands import Origin
from ...domain.errors import ScheduleNotFound, VersionConflict
from ...domain.schedule import Schedule, readable
from ...domain.vocabulary import ControlEventName
from . import schedule_rows as rows
from .query import Plan, Query
from .schedule_statements import schedule_statements


def locked(schema: str, name: str, version: int | None = None) -> Plan[Schedule]:
    """Lock the row of a schedule that a change or a job is made of.

    Raises ScheduleNotFound, ScheduleUnreadable, VersionConflict unless ``version`` is None or current.
    """
    return readable((yield from locked_as_it_is(schema, name, version)))


def locked_as_it_is(schema: str, name: str, version: int | None = None) -> Plan[Schedule]:
    """Lock a schedule's row, also one with a ``fault``: what stands in for its definition must not be written."""
    found = yield schedule_statements(schema).lock(name=name)
    if not found:
        raise ScheduleNotFound(f"there is no schedule {name}")
    schedule = rows.schedule(found[0])
    if version is not None and schedule.version != version:
        raise VersionConflict(f"schedule {name} has version {schedule.version}, not {version}")
    return schedule


def note(
    schema: str, name: str, event: ControlEventName, origin: Origin, at: datetime, data: Mapping[str, Any]
) -> Query:
    """Return the statement that writes a schedule's event."""
    return schedule_statements(schema).note(
        name=name,
        event=event.value,
        at=at,
        actor=origin.actor,
        request_id=origin.request_id,
        reason=origin.reason,
        data=rows.encoded(data),
    )
