"""What the event of a trigger tells, and what a request gets that comes again."""

from typing import Any

from .errors import KeyConflict
from .facts import instant
from .firing import Firing
from .schedule import Overlap, Slot


def describe(slot: Slot, overlap: Overlap) -> dict[str, Any]:
    """Return what the event of a trigger tells."""
    return {"fire_at": instant(slot.fire_at), "origin": slot.origin, "overlap": overlap.value}


def repeated(there: Firing, told: str | None, overlap: Overlap) -> Firing:
    """Return the answer to a request whose id was used before; raises KeyConflict unless for the same.

    ``told`` is the overlap policy in the event of the first; None, where that is not known any more, is any.
    """
    if told not in (None, overlap.value):
        raise KeyConflict(f"this key or request id has asked for a firing with overlap {told}, not {overlap}")
    return there
