"""Backfills as records of plain values."""

from ..domain.backfill import Backfill
from ..domain.facts import instant, instant_or_none
from .records import Record


def backfill_record(one: Backfill) -> Record:
    """Return what was wanted, how far it is, and how it has ended if it has."""
    wanted = one.wanted
    return {
        "backfill_id": one.backfill_id,
        "schedule": one.schedule,
        "from": instant(wanted.from_at),
        "to": instant(wanted.to_at),
        "priority": wanted.priority,
        "overlap": wanted.overlap.value,
        "fire_times": one.total,
        "decided": one.decided,
        "fired": one.fired,
        "next_at": instant_or_none(one.next_at),
        "requested_at": instant(one.requested_at),
        "actor": one.origin.actor,
        "request_id": one.origin.request_id,
        "reason": one.origin.reason,
        "ended_at": instant_or_none(one.ended_at),
        "ending": None if one.ending is None else one.ending.value,
    }
