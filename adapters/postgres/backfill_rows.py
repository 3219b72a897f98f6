"""Backfills as rows."""

from typing import Any

from ...domain import schedule_facts
from ...domain.backfill import Backfill, Ending, Wanted
from ...domain.commands import Origin
from ...domain.schedule import Overlap
from .query import Row
from .schedule_rows import encoded
from .stored_definitions import timing as restored

COLUMNS = (
    *("backfill_id", "schedule", "from_at", "to_at", "priority", "overlap"),
    *(
        "total",
        "decided",
        "fired",
        "next_at",
        "requested_at",
        "actor",
        "request_id",
        "reason",
        "ended_at",
        "ending",
    ),
)
BACKFILL = f"CAST(b.timing AS text), {', '.join(f'b.{name}' for name in COLUMNS)}"
"""The columns that ``backfill`` takes, of a row called b."""
WIDTH = len(COLUMNS) + 1
"""How many they are."""


def backfill(row: Row) -> Backfill:
    """Return the backfill of a row; the ``fault`` of its timing says if nobody can read that, and why."""
    timing, *values = row
    fields: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
    taken = {name: fields.pop(name) for name in ("from_at", "to_at", "priority", "overlap")}
    trail = {name: fields.pop(name) for name in ("actor", "request_id", "reason")}
    ending = fields.pop("ending")
    return Backfill(
        wanted=Wanted(**{**taken, "overlap": Overlap(taken["overlap"])}),
        timing=restored(timing, taken["from_at"]),
        origin=Origin(**trail),
        ending=None if ending is None else Ending(ending),
        **fields,
    )


def columns(one: Backfill) -> dict[str, Any]:
    """Return the values of a row, by column."""
    return {
        **standing(one),
        "schedule": one.schedule,
        "timing": encoded(schedule_facts.describe_timing(one.timing)),
        "from_at": one.wanted.from_at,
        "to_at": one.wanted.to_at,
        "priority": one.wanted.priority,
        "overlap": one.wanted.overlap.value,
        "total": one.total,
        "requested_at": one.requested_at,
        "actor": one.origin.actor,
        "request_id": one.origin.request_id,
        "reason": one.origin.reason,
    }


def standing(one: Backfill) -> dict[str, Any]:
    """Return what changes of a row, by column, and its id."""
    return {
        "backfill_id": one.backfill_id,
        "decided": one.decided,
        "fired": one.fired,
        "next_at": one.next_at,
        "ended_at": one.ended_at,
        "ending": None if one.ending is None else one.ending.value,
    }
