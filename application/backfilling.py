"""Backfills as people and programs ask for them: check first, then store."""

from collections.abc import Sequence

from attrs import frozen

from ..domain.backfill import Backfill, Wanted, check_wanted
from ..domain.commands import Origin
from ..domain.errors import InvalidInput
from ..domain.submission import check_origin
from ..domain.values import check_integer, check_key, check_name
from ..domain.vocabulary import Verdict
from .ports.backfill_store import BackfillStore, Requested

PAGE_MOST = 1_000


@frozen
class Backfilling:
    """The use case. Every method raises InvalidInput, Unavailable; a change also UnknownOutcome."""

    _store: BackfillStore

    async def backfill(self, name: str, wanted: Wanted, origin: Origin) -> Requested:
        """Fire a schedule for each of its fire times in a range of the past, paused or not.

        Schedulers carry it out; it is there once this returns. Asked again with the same request id, which must be
        given, the answer is the same backfill. The range may begin before the schedule does (but intervals are counted
        from there), and must hold no more than 10,000 fire times. Raises ScheduleNotFound, KeyConflict when this
        request id has asked for another backfill of the schedule.
        """
        _check(name, wanted)
        check_origin(origin)
        if not (origin.request_id or "").strip():
            raise InvalidInput(
                "request_id", "must be given: who asks again with the same one is answered alike"
            )
        return await self._store.request(name, wanted, origin)

    async def size(self, name: str, wanted: Wanted) -> int:
        """Return how many fire times a backfill would have, without changing anything; raises ScheduleNotFound."""
        _check(name, wanted)
        return await self._store.size(name, wanted)

    async def stop(self, backfill_id: str, origin: Origin) -> Verdict:
        """Decide no further fire times; jobs that are there stay. Raises BackfillNotFound."""
        check_key("backfill_id", backfill_id)
        check_origin(origin)
        return await self._store.stop(backfill_id, origin)

    async def list(self, name: str, *, limit: int = 100) -> Sequence[Backfill]:
        """Return the backfills of a name, newest first, those of a schedule that was deleted too; 1,000 at most."""
        check_integer("limit", limit, 1, PAGE_MOST)
        return await self._store.list(check_name("name", name), limit=limit)


def _check(name: str, wanted: Wanted) -> None:
    check_name("name", name)
    check_wanted(wanted)
