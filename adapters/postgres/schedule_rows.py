"""Schedules and firings as rows."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ...domain import schedule_facts
from ...domain.firing import Firing, Outcome, Reason
from ...domain.ledger import Entry
from ...domain.schedule import Declaration, Schedule, Slot
from ...domain.zones import TZ_VERSION
from .arrays import numbers
from .query import Plan, Query, Row
from .stored_definitions import definition as restored

SCHEDULE = (
    "s.name, s.version, CAST(s.definition AS text), CAST(s.payload AS text), s.created_at, s.next_fire_at, "
    "s.paused_at, s.pause_reason, s.waiting, s.waiting_origin, s.waiting_cancels, s.open_jobs, s.last_job, "
    "s.declared_by, CAST(s.declared AS text)"
)
"""The columns that ``schedule`` takes, of a row called s."""
FIRING = "f.fire_at, f.origin, f.outcome, f.reason, f.until, f.count, f.job_id"
"""The columns that ``firing`` takes, of a row called f."""
ENTRY = f"{FIRING}, f.version, f.tz_version, f.decided_at"
"""The columns that ``entry`` takes."""
NEW = (
    *("name", "version", "definition", "payload", "created_at", "next_fire_at", "tz_version"),
    *("declared_by", "declared"),
)
"""What is written of a new schedule."""
WHOLE = (
    *("name", "version", "definition", "payload", "next_fire_at", "tz_version"),
    *("paused_at", "pause_reason", "waiting", "waiting_origin", "waiting_cancels", "open_jobs", "last_job"),
    *("declared_by", "declared"),
)
"""What is written of a changed one."""

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


def schedule(row: Row) -> Schedule:
    """Return the schedule of a row; its ``fault`` says if nobody can read the definition, and why."""
    name, version, definition, payload, created_at, next_fire_at, paused_at, reason, *rest = row
    waiting, waiting_origin, waiting_cancels, open_jobs, last_job, declared_by, declared = rest
    return Schedule(
        name=name,
        version=version,
        definition=restored(definition, payload, created_at),
        created_at=created_at,
        next_fire_at=next_fire_at,
        paused_at=paused_at,
        pause_reason=reason,
        waiting=None if waiting is None else Slot(waiting, waiting_origin, waiting_cancels),
        open_jobs=tuple(open_jobs),
        last_job=last_job,
        declared=None if declared_by is None else Declaration(declared_by, declared),
    )


def _readable(found: Iterable[Row]) -> list[Schedule]:
    """Return the schedules of rows; a row that nobody can read is told of and left, and holds up no other."""
    schedules = [schedule(row) for row in found]
    for one in schedules:
        if one.fault is not None:
            _log.error("schedule %s can't be read, and does not fire: %s", one.name, one.fault)
    return [one for one in schedules if one.fault is None]


def some_readable(
    ask: Callable[[int], Query], limit: int, sound: Callable[[list[Schedule]], list[Schedule]]
) -> Plan[tuple[int, list[Schedule]]]:
    """Return how many rows were found and the sound schedules among them, looking past rows that nobody can read."""
    while True:
        found = yield ask(limit)
        schedules = sound(_readable(found))
        if schedules or len(found) < limit:
            return len(found), schedules
        limit *= 2


def columns(one: Schedule) -> dict[str, Any]:
    """Return the values of a row, by column."""
    return {
        **standing(one),
        "definition": encoded(schedule_facts.describe(one.definition)),
        "payload": one.definition.template.payload,
        "created_at": one.created_at,
        "tz_version": TZ_VERSION,
        "declared_by": None if one.declared is None else one.declared.app,
        "declared": None if one.declared is None else one.declared.text,
    }


def standing(one: Schedule) -> dict[str, Any]:
    """Return what decisions change of a row, by column, and its name: the definition need not be described for that."""
    slot = one.waiting
    return {
        "name": one.name,
        "version": one.version,
        "next_fire_at": one.next_fire_at,
        "paused_at": one.paused_at,
        "pause_reason": one.pause_reason,
        "waiting": None if slot is None else slot.fire_at,
        "waiting_origin": None if slot is None else slot.origin,
        "waiting_cancels": slot is not None and slot.cancels,
        "open_jobs": numbers(one.open_jobs),
        "last_job": one.last_job,
    }


def firing(row: Row) -> Firing:
    """Return the firing of a row of the ledger."""
    fire_at, origin, outcome, reason, until, count, job_id = row
    return Firing(
        fire_at=fire_at,
        origin=origin,
        outcome=Outcome(outcome),
        reason=Reason(reason),
        until=None if until == fire_at else until,
        count=count,
        job_id=job_id,
    )


def entry(row: Row) -> Entry:
    """Return a row of the ledger, whole."""
    *decision, version, tz_version, decided_at = row
    return Entry(firing(decision), version, tz_version, decided_at)


def encoded(value: object) -> str:
    """Return JSON text."""
    return _encode(value).decode()
