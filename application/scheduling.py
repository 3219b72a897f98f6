"""Schedules as people and programs change them: check first, then store."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from attrs import frozen

from ..domain.commands import Origin
from ..domain.declaring import Declared
from ..domain.errors import InvalidInput, ScheduleNotFound, VersionConflict
from ..domain.firing import Outcome, Reason
from ..domain.ledger import Entry
from ..domain.schedule import Definition, Overlap, Schedule, readable
from ..domain.schedule_changes import is_defined_by
from ..domain.scheduling import check_definition
from ..domain.submission import check_origin
from ..domain.values import check_choice, check_integer, check_key, check_moment, check_name, check_text
from ..domain.vocabulary import Verdict
from .ports.schedule_store import (
    EVERY_ROW,
    Created,
    FiringStore,
    LedgerFilter,
    ScheduleReader,
    ScheduleStore,
    Triggered,
)

PAGE_MOST = 1_000
VERSION_MOST = 2**31 - 1


@frozen
class Scheduling:
    """The use case. Every method raises InvalidInput, Unavailable; a change also UnknownOutcome."""

    _store: ScheduleStore
    _firings: FiringStore
    _reader: ScheduleReader

    async def create(self, name: str, definition: Definition, origin: Origin) -> Created:
        """Create a schedule, from now on unless it says when; the one that is there if it is defined alike.

        Raises ScheduleExists for one that is defined otherwise, ScheduleUnreadable for one with a ``fault``.
        """
        _check(name, origin)
        return await self._store.create(name, check_definition(definition), origin)

    async def edit(
        self, name: str, definition: Definition, origin: Origin, *, version: int | None = None
    ) -> Schedule:
        """Replace the definition from the next decision on; a start left open stays where it is.

        Raises ScheduleNotFound, VersionConflict unless ``version`` is None or current. But who asks for what is there
        by now is answered with that: the first answer may have been lost.
        """
        _check(name, origin, version)
        wanted = check_definition(definition)
        try:
            return await self._store.edit(name, wanted, origin, version=version)
        except VersionConflict:
            there = await self._reader.get(name)
            if there is None or not is_defined_by(there, wanted):
                raise
            return there

    async def amend(
        self,
        name: str,
        amended: Callable[[Definition], Definition],
        origin: Origin,
        *,
        version: int | None = None,
    ) -> Schedule:
        """Edit a part of a definition: ``amended`` makes the new one of the one that is there.

        With ``version`` None it is asked anew when somebody else was faster, and nobody's change is lost. Raises as
        ``edit`` does, and ScheduleUnreadable.
        """
        _check(name, origin, version)
        while True:
            there = await self.get(name)
            wanted = check_definition(amended(there.definition))
            if is_defined_by(there, wanted):
                return there
            if version not in (None, there.version):
                raise VersionConflict(f"schedule {name} has version {there.version}, not {version}")
            with suppress(VersionConflict):  # somebody else was faster
                return await self._store.edit(name, wanted, origin, version=there.version)

    async def declare(
        self, name: str, definition: Definition, origin: Origin, *, app: str, force: bool = False
    ) -> Declared:
        """Let an app's code say what a schedule is, see ``domain.declaring``; whether it is paused stays as it is."""
        _check(name, origin)
        check_text("app", app)
        return await self._store.declare(name, check_definition(definition), origin, app=app, force=force)

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Stop firing; the origin's reason is kept. Raises ScheduleNotFound."""
        _check(name, origin)
        return await self._store.pause(name, origin)

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Fire again, from now on: paused time is not missed time. Raises ScheduleNotFound, ScheduleUnreadable."""
        _check(name, origin)
        return await self._store.resume(name, origin)

    async def delete(self, name: str, origin: Origin, *, version: int | None = None) -> None:
        """Remove a schedule; its ledger stays. Raises ScheduleNotFound, VersionConflict."""
        _check(name, origin, version)
        await self._store.delete(name, origin, version=version)

    async def trigger(self, name: str, origin: Origin, *, overlap: Overlap = Overlap.ALLOW) -> Triggered:
        """Fire now, paused or not: once for each request id, which must be given.

        Raises ScheduleNotFound, ScheduleUnreadable, KeyConflict when this request id has asked with another overlap
        policy.
        """
        _check(name, origin)
        if not (origin.request_id or "").strip():
            raise InvalidInput("request_id", "must be given: who asks again with the same one fires once")
        return await self._firings.trigger(name, overlap, origin)

    async def get(self, name: str) -> Schedule:
        """Return a schedule as it is now; raises ScheduleNotFound, ScheduleUnreadable."""
        return readable(await self.find(name))

    async def find(self, name: str) -> Schedule:
        """Return a schedule, also one with a ``fault``: nobody can read its definition; raises ScheduleNotFound."""
        found = await self._reader.get(check_name("name", name))
        if found is None:
            raise ScheduleNotFound(f"there is no schedule {name}")
        return found

    async def list(self, *, after: str = "", limit: int = 100) -> Sequence[Schedule]:
        """Return schedules by name, those behind the name ``after``; 1,000 at most, those with a ``fault``, too."""
        check_integer("limit", limit, 1, PAGE_MOST)
        return await self._reader.list(after=check_name("after", after) if after else "", limit=limit)

    async def firings(
        self,
        name: str,
        where: LedgerFilter = EVERY_ROW,
        *,
        before: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[Entry]:
        """Return the ledger of a name, newest fire time first, those before ``before``: ``limit`` rows, 1 to 1,000.

        A page is longer where that keeps the rows of one fire time together. The ledger outlives its schedule.
        """
        check_name("name", name)
        check_integer("limit", limit, 1, PAGE_MOST)
        if before is not None:
            check_moment("before", before)
        return await self._reader.firings(name, _checked(where), before=before, limit=limit)

    async def check_known(self, name: str) -> None:
        """Raise ScheduleNotFound for the name of no schedule that has no ledger either."""
        if not await self.firings(name, limit=1):
            await self.find(name)


def _checked(where: LedgerFilter) -> LedgerFilter:
    """Return the same filter; raises InvalidInput for words that no decision has."""
    for outcome in where.outcomes or ():
        check_choice("outcome", outcome, Outcome)
    for reason in where.reasons or ():
        check_choice("reason", reason, Reason)
    if where.origin is not None:
        check_key("origin", where.origin)
    return where


def _check(name: str, origin: Origin, version: int | None = None) -> None:
    check_name("name", name)
    check_origin(origin)
    if version is not None:
        check_integer("version", version, 1, VERSION_MOST)
