"""Backfills, with the decisions of the domain."""

from collections.abc import Sequence
from datetime import datetime

from ...application.ports.backfill_store import Requested
from ...application.ports.schedule_store import Fired
from ...domain import backfill_facts as facts
from ...domain.backfill import Backfill, Ending, Wanted, decide_next, ended, requested, size
from ...domain.commands import Origin
from ...domain.errors import BackfillNotFound
from ...domain.firing_jobs import unfinished, with_jobs
from ...domain.schedule import Overlap
from ...domain.vocabulary import ControlEventName as Name
from ...domain.vocabulary import Verdict
from .database import MemoryDatabase
from .settling import found, job_states, note, recorded


class MemoryBackfillStore:
    """Implements the ports ``BackfillStore`` and ``BackfillRounds``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def request(self, name: str, wanted: Wanted, origin: Origin) -> Requested:
        """Ask for a backfill, once for each request id of ``origin``; raises as the port says."""
        with self._database.transaction() as now:
            schedule, backfill_id = found(self._database, name), facts.backfill_id(name, origin)
            if there := self._database.backfills.get(backfill_id):
                return Requested(facts.repeated(there, wanted), is_new=False)
            backfill = requested(backfill_id, schedule, wanted, origin, now)
            self._database.backfills[backfill_id] = backfill
            data = facts.beginning(backfill)
            note(self._database, name, Name.SCHEDULE_BACKFILL_STARTED, backfill.origin, now, data)
            if backfill.ended_at is not None:
                _note_end(self._database, backfill, facts.finisher(backfill), now)
            self._database.ring()
            return Requested(backfill, is_new=True)

    async def size(self, name: str, wanted: Wanted) -> int:
        """Return how many fire times would be decided; raises ScheduleNotFound, InvalidInput."""
        with self._database.transaction() as now:
            return size(found(self._database, name).definition.timing, wanted, now)

    async def stop(self, backfill_id: str, origin: Origin) -> Verdict:
        """Decide no further fire times; raises BackfillNotFound."""
        with self._database.transaction() as now:
            backfill = self._database.backfills.get(backfill_id)
            if backfill is None:
                raise BackfillNotFound(f"there is no backfill {backfill_id}")
            if backfill.next_at is None:
                return Verdict.ALREADY_APPLIED
            end_early(self._database, backfill, Ending.STOPPED, origin, now)
            return Verdict.ACCEPTED

    async def list(self, name: str, *, limit: int = 100) -> Sequence[Backfill]:
        """Return the backfills of a schedule, newest first."""
        with self._database.transaction():
            own = [one for one in self._database.backfills.values() if one.schedule == name]
        own.sort(key=lambda one: one.backfill_id)
        own.sort(key=lambda one: one.requested_at, reverse=True)
        return own[:limit]

    async def advance(self, limit: int) -> Fired:
        """Decide the next fire times of one backfill, for so many jobs at most."""
        with self._database.transaction() as now:
            ready = [one for one in self._database.backfills.values() if self._is_ready(one)]
            if not ready:
                return Fired(schedules=0, full=False, next_in=None)
            self._advance(min(ready, key=lambda one: (one.requested_at, one.backfill_id)), limit, now)
            return Fired(schedules=1, full=True, next_in=None)

    def _advance(self, backfill: Backfill, limit: int, now: datetime) -> None:
        if (origin := facts.broken(backfill)) is not None:
            end_early(self._database, backfill, Ending.STOPPED, origin, now)
            return
        apart = facts.is_apart(backfill)
        schedule = self._database.schedules[backfill.schedule]
        known = schedule if apart else unfinished(schedule, job_states(self._database, schedule))
        step = decide_next(backfill, known, now, busy=bool(known.open_jobs), most=limit)
        job_ids = recorded(self._database, facts.making(known, backfill), step.firings, now)
        if not apart:
            self._database.schedules[known.name] = with_jobs(known, job_ids)
        self._database.backfills[backfill.backfill_id] = step.backfill
        if step.backfill.ended_at is not None:
            _note_end(self._database, step.backfill, facts.finisher(backfill), now)

    def _is_ready(self, backfill: Backfill) -> bool:
        """Whether there is something left to decide, and nothing in its way."""
        if backfill.next_at is None or backfill.wanted.overlap is not Overlap.QUEUE_ONE:
            return backfill.next_at is not None
        schedule = self._database.schedules[backfill.schedule]
        waits = schedule.waiting is not None and schedule.paused_at is None
        return not (waits or unfinished(schedule, job_states(self._database, schedule)).open_jobs)


def end_early(
    database: MemoryDatabase, backfill: Backfill, ending: Ending, origin: Origin, now: datetime
) -> None:
    """End a backfill; jobs that it has made stay."""
    over = ended(backfill, ending, now)
    database.backfills[over.backfill_id] = over
    _note_end(database, over, origin, now)


def end_all(database: MemoryDatabase, name: str, origin: Origin, now: datetime) -> None:
    """End the backfills of a schedule that is deleted."""
    for _, backfill in sorted(database.backfills.items()):
        if backfill.schedule == name and backfill.next_at is not None:
            end_early(database, backfill, Ending.DELETED, origin, now)


def _note_end(database: MemoryDatabase, backfill: Backfill, origin: Origin, now: datetime) -> None:
    note(database, backfill.schedule, Name.SCHEDULE_BACKFILL_ENDED, origin, now, facts.end(backfill))
