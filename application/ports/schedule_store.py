"""Schedules as people change them; every change is one transaction with its event and the decisions it brings."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from attrs import frozen

from ...domain.commands import Origin
from ...domain.declaring import Declared
from ...domain.firing import Firing, Outcome, Reason
from ...domain.ledger import Entry
from ...domain.schedule import Definition, Overlap, Schedule
from ...domain.vocabulary import Verdict


@frozen(kw_only=True)
class Fired:
    """What one round has decided: how many schedules it looked at, and when the next one is due, if any.

    ``full`` says that there may be more now.
    """

    schedules: int
    full: bool
    next_in: timedelta | None


@frozen
class Created:
    """The answer to a create: ``is_new`` is False when the schedule was there, defined alike."""

    schedule: Schedule
    is_new: bool


@frozen(kw_only=True)
class LedgerFilter:
    """All given conditions must hold; None means any."""

    outcomes: frozenset[Outcome] | None = None
    reasons: frozenset[Reason] | None = None
    origin: str | None = None


EVERY_ROW = LedgerFilter()


@frozen
class Triggered:
    """A firing that was asked for, and whether it is new: a request that comes again gets the first one's."""

    firing: Firing
    is_new: bool


class ScheduleStore(Protocol):
    """Changes; each raises Unavailable, UnknownOutcome."""

    async def create(self, name: str, definition: Definition, origin: Origin) -> Created:
        """Create a schedule that starts now unless it says when; of several at once, one does and the others find it.

        Raises InvalidInput when that start leaves no room for a fire time, ScheduleExists unless the one that is there
        has the same definition (its start counts for one left open), ScheduleUnreadable if that has a ``fault``.
        """
        ...

    async def edit(
        self, name: str, definition: Definition, origin: Origin, *, version: int | None = None
    ) -> Schedule:
        """Replace the definition; a start left open stays where it is, and the same definition changes nothing.

        Raises InvalidInput as ``create`` does, ScheduleNotFound, VersionConflict unless ``version`` is None or current.
        """
        ...

    async def declare(
        self, name: str, definition: Definition, origin: Origin, *, app: str, force: bool = False
    ) -> Declared:
        """Do what ``domain.declaring.judged`` says; of several at once, one creates and the others find it there.

        Raises InvalidInput as ``create`` does.
        """
        ...

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Stop firing; raises ScheduleNotFound."""
        ...

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Fire again, from now on; raises ScheduleNotFound, ScheduleUnreadable."""
        ...

    async def delete(self, name: str, origin: Origin, *, version: int | None = None) -> None:
        """Remove a schedule; its ledger stays. Raises ScheduleNotFound, VersionConflict."""
        ...


class FiringStore(Protocol):
    """What makes jobs of schedules; any number may call it at once, and a schedule that fails holds up no other."""

    async def fire(self, limit: int) -> Fired:
        """Decide what is due for so many schedules at most, in one transaction as long as nothing fails."""
        ...

    async def release(self, limit: int) -> Fired:
        """Insert the jobs that waited for others to end."""
        ...

    async def recompute(self, limit: int) -> int:
        """Compute next fire times anew that come from older rules of time zones; return how many it looked at."""
        ...

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Triggered:
        """Fire now, once for each request id of ``origin``: asked again, the answer is what was decided then.

        Raises ScheduleNotFound, ScheduleUnreadable, KeyConflict when this request id has asked with another overlap
        policy.
        """
        ...


class ScheduleReader(Protocol):
    """Reads; a schedule whose stored definition nobody can read has a ``fault``."""

    async def get(self, name: str) -> Schedule | None:
        """Return a schedule as it is now."""
        ...

    async def list(self, *, after: str = "", limit: int = 100) -> Sequence[Schedule]:
        """Return schedules by name."""
        ...

    async def declared(self, app: str, names: Sequence[str]) -> Sequence[Schedule]:
        """Return the schedules that an app declares and those of these names, by name."""
        ...

    async def firings(
        self,
        name: str,
        where: LedgerFilter = EVERY_ROW,
        *,
        before: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[Entry]:
        """Return the ledger of a schedule, newest fire time first: so many rows, and all others of the last fire time.

        That way ``before`` it the next page leaves none out.
        """
        ...
