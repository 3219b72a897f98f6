"""Makes jobs of schedules, with the decisions of the domain."""

from collections.abc import Iterable
from datetime import datetime

from attrs import evolve

from ...application.ports.schedule_store import Fired, Triggered
from ...domain import schedule_changes as changes
from ...domain import schedule_facts, trigger_facts
from ...domain.commands import Origin
from ...domain.firing import Decided, Firing, decide_asked, decide_due
from ...domain.firing_jobs import (
    failed,
    failure,
    may_begin,
    obstacle,
    operation_origin,
    stop,
    unfinished,
    with_jobs,
)
from ...domain.schedule import MISSED_AFTER, Overlap, Schedule, Slot
from ...domain.vocabulary import ControlEventName, Verdict
from .database import MemoryDatabase
from .operating import operate
from .settling import decided_slots, found, insert_job, job_states, note, record, settle, told_of


class MemoryFiringStore:
    """Implements the port ``FiringStore``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def fire(self, limit: int) -> Fired:
        """Decide what is due for so many schedules at most."""
        with self._database.transaction() as now:
            names = self._due(now)[:limit]
            for name in names:
                self._decide(self._database.schedules[name], now, len(names))
            left = any(name in names for at, name in self._fire_times() if at <= now)
            later = [at - now for at, _ in self._fire_times() if at > now]
            full = left or len(names) == limit
            return Fired(schedules=len(names), full=full, next_in=min(later, default=None))

    async def release(self, limit: int) -> Fired:
        """Insert the jobs that waited for others to end."""
        with self._database.transaction() as now:
            ready = [
                (one.waiting.fire_at, name)
                for name, one in self._database.schedules.items()
                if one.waiting is not None and one.paused_at is None and self._is_ready(one, one.waiting)
            ]
            names = [name for _, name in sorted(ready)[:limit]]
            moved = sum(self._release(self._database.schedules[name], now) for name in names)
            return Fired(schedules=len(names), full=len(names) == limit and moved > 0, next_in=None)

    async def recompute(self, limit: int) -> int:  # noqa: ARG002 - the port has it
        """Look at nothing: what is in memory comes from one tz database."""
        return 0

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Triggered:
        """Fire now, once for each request id of ``origin``; raises ScheduleNotFound, KeyConflict."""
        with self._database.transaction() as now:
            schedule = found(self._database, name)
            asked_by = operation_origin("trigger", origin.request_id or "")
            if earlier := self._asked(name, asked_by):
                first = trigger_facts.repeated(earlier, self._told(name, asked_by), overlap)
                return Triggered(first, is_new=False)
            known = unfinished(schedule, job_states(self._database, schedule))
            slot = Slot(now, asked_by)
            decided = decide_asked(known, slot, overlap, busy=bool(known.open_jobs))
            settle(self._database, known, decided, now)
            self._cancel(known, decided, now)
            data = trigger_facts.describe(slot, overlap)
            note(self._database, name, ControlEventName.SCHEDULE_TRIGGERED, origin, now, data)
            return Triggered(self._database.ledgers[name][slot].firing, is_new=True)

    def _due(self, now: datetime) -> list[str]:
        """Return who is due: those on time go before those who catch up."""
        late = now - MISSED_AFTER
        due = [(at <= late, at, name) for at, name in self._fire_times() if at <= now]
        return [name for *_, name in sorted(due)]

    def _fire_times(self) -> Iterable[tuple[datetime, str]]:
        schedules = self._database.schedules.values()
        return [(one.next_fire_at, one.name) for one in schedules if one.next_fire_at is not None]

    def _asked(self, name: str, origin: str) -> Firing | None:
        ledger = self._database.ledgers.get(name, {})
        return next((entry.firing for slot, entry in ledger.items() if slot.origin == origin), None)

    def _told(self, name: str, asked_by: str) -> str | None:
        """Return the overlap policy of an earlier trigger."""
        told = (event.data for event in told_of(self._database, name))
        return next((data["overlap"] for data in told if data.get("origin") == asked_by), None)

    def _decide(self, schedule: Schedule, now: datetime, among: int) -> None:
        states = job_states(self._database, schedule)
        known = unfinished(schedule, states)
        if (origin := obstacle(known, states)) is not None:
            self._pause(known, origin, now)
            return
        already = decided_slots(self._database, schedule.name)
        decided = decide_due(known, now, busy=bool(known.open_jobs), decided=already, among=among)
        settle(self._database, known, decided, now)
        self._cancel(known, decided, now)

    def _pause(self, schedule: Schedule, origin: Origin, now: datetime) -> None:
        """Pause a schedule that can't go on; what is due is skipped, and what waits waits on."""
        name = schedule.name
        change = changes.paused(schedule, origin.reason, now, decided_slots(self._database, name))
        data = schedule_facts.describe_change(change.schedule, ControlEventName.SCHEDULE_PAUSED)
        note(self._database, name, ControlEventName.SCHEDULE_PAUSED, origin, now, data)
        settle(self._database, change.schedule, change.decided, now)

    def _cancel(self, known: Schedule, decided: Decided, now: datetime) -> None:
        if decided.cancel:
            operate(self._database, known.open_jobs, stop(known), now)

    def _is_ready(self, schedule: Schedule, waiting: Slot) -> bool:
        """Whether nothing is in its way any more, or something can be asked to leave."""
        known = unfinished(schedule, job_states(self._database, schedule))
        asked = (self._database.jobs[job_id].cancel_requested for job_id in known.open_jobs)
        return may_begin(known) or (waiting.cancels and not all(asked))

    def _release(self, schedule: Schedule, now: datetime) -> bool:
        """Insert what waits, or ask what it waits for to stop; tell whether that came to anything."""
        states = job_states(self._database, schedule)
        known = unfinished(schedule, states)
        if not may_begin(known):
            return Verdict.ACCEPTED in operate(self._database, known.open_jobs, stop(known), now).values()
        if failed(known, states):
            self._pause(known, failure(known), now)
        elif known.waiting is not None:
            self._insert(known, evolve(known.waiting, cancels=False), now)
        return True

    def _insert(self, schedule: Schedule, slot: Slot, now: datetime) -> None:
        """Insert the job of the waiting firing, and write into the ledger which it is."""
        job_id = insert_job(self._database, schedule, slot, now)
        entry = self._database.ledgers[schedule.name][slot]
        record(self._database, schedule.name, evolve(entry, firing=evolve(entry.firing, job_id=job_id)))
        self._database.schedules[schedule.name] = with_jobs(evolve(schedule, waiting=None), [job_id])
