"""Backfills of schedules: asked for by people, carried out by schedulers; every call is one transaction."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from ...domain.backfill import Backfill, Wanted
from ...domain.commands import Origin
from ...domain.vocabulary import Verdict
from .schedule_store import Fired


@frozen
class Requested:
    """A backfill, and whether it is new: a request that comes again gets the first one's."""

    backfill: Backfill
    is_new: bool


class BackfillStore(Protocol):
    """What people do and see; each raises Unavailable, what changes something UnknownOutcome."""

    async def request(self, name: str, wanted: Wanted, origin: Origin) -> Requested:
        """Ask for a backfill, once for each request id of ``origin``.

        Raises ScheduleNotFound, ScheduleUnreadable, InvalidInput, KeyConflict when this request id has asked for
        another one.
        """
        ...

    async def size(self, name: str, wanted: Wanted) -> int:
        """Return how many fire times would be decided; raises ScheduleNotFound, ScheduleUnreadable, InvalidInput."""
        ...

    async def stop(self, backfill_id: str, origin: Origin) -> Verdict:
        """Decide no further fire times; jobs that are there stay. Raises BackfillNotFound."""
        ...

    async def list(self, name: str, *, limit: int = 100) -> Sequence[Backfill]:
        """Return the backfills of a schedule, newest first."""
        ...


class BackfillRounds(Protocol):
    """What carries backfills out; any number may call it at once, and one that fails holds up no other."""

    async def advance(self, limit: int) -> Fired:
        """Decide the next fire times of one backfill, for so many jobs at most; ``full`` when there may be more now."""
        ...
