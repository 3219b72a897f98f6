"""Schedules as people change them, and their ledgers: every rule is the domain's."""

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve

from ...application.ports.schedule_store import EVERY_ROW, Created, LedgerFilter
from ...domain import declaring, schedule_facts
from ...domain import schedule_changes as changes
from ...domain.commands import Origin
from ...domain.declaring import Declared
from ...domain.errors import ScheduleExists
from ...domain.firing import Firing, Outcome, Reason
from ...domain.ledger import Entry
from ...domain.schedule import Definition, Schedule, Slot
from ...domain.vocabulary import ControlEventName as Name
from ...domain.vocabulary import Verdict
from .backfill_store import end_all
from .database import MemoryDatabase
from .settling import decided_slots, found, inherited, note, record, settle


class MemoryScheduleStore:
    """Implements the ports ``ScheduleStore`` and ``ScheduleReader``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Work on this database."""
        self._database = database

    async def get(self, name: str) -> Schedule | None:
        """Return a schedule as it is now."""
        return self._database.schedules.get(name)

    async def list(self, *, after: str = "", limit: int = 100) -> Sequence[Schedule]:
        """Return schedules by name."""
        with self._database.transaction():
            names = sorted(name for name in self._database.schedules if name > after)
            return [self._database.schedules[name] for name in names[:limit]]

    async def declared(self, app: str, names: Sequence[str]) -> Sequence[Schedule]:
        """Return the schedules that an app declares and those of these names, by name."""
        with self._database.transaction():
            return [
                one
                for name, one in sorted(self._database.schedules.items())
                if name in names or (one.declared is not None and one.declared.app == app)
            ]

    async def firings(
        self,
        name: str,
        where: LedgerFilter = EVERY_ROW,
        *,
        before: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[Entry]:
        """Return the ledger of a schedule, newest fire time first."""
        with self._database.transaction():
            entries = self._database.ledgers.get(name, {}).values()
            rows = [one for one in entries if _matches(one.firing, where, before)]
        rows.sort(key=lambda row: row.firing.origin)
        rows.sort(key=lambda row: row.firing.fire_at, reverse=True)
        page, rest = rows[:limit], rows[limit:]
        return page + [row for row in rest if page and row.firing.fire_at == page[-1].firing.fire_at]

    async def create(self, name: str, definition: Definition, origin: Origin) -> Created:
        """Create a schedule; raises InvalidInput, ScheduleExists."""
        with self._database.transaction() as now:
            there = self._database.schedules.get(name)
            if there is None:
                schedule = inherited(self._database, changes.created(name, definition, now))
                return Created(self._write(Name.SCHEDULE_CREATED, schedule, origin, now), is_new=True)
            if not changes.is_defined_by(there, definition):
                raise ScheduleExists(declaring.defined_otherwise(there, definition))
            return Created(there, is_new=False)

    async def edit(
        self, name: str, definition: Definition, origin: Origin, *, version: int | None = None
    ) -> Schedule:
        """Replace the definition; raises InvalidInput, ScheduleNotFound, VersionConflict."""
        with self._database.transaction() as now:
            schedule = found(self._database, name, version)
            if changes.is_defined_by(schedule, definition):
                return schedule
            change = changes.edited(schedule, definition, now, decided_slots(self._database, name))
            return self._apply(Name.SCHEDULE_EDITED, schedule, change, origin, now)

    async def declare(
        self, name: str, definition: Definition, origin: Origin, *, app: str, force: bool = False
    ) -> Declared:
        """Do what ``domain.declaring.judged`` says; raises InvalidInput."""
        with self._database.transaction() as now:
            there = self._database.schedules.get(name)
            answer = declaring.judged(name, there, app, definition, force=force)
            if there is None:
                new = inherited(self._database, declaring.newly_declared(name, app, definition, now))
                self._write(Name.SCHEDULE_CREATED, new, origin, now)
            elif answer.action in declaring.EVENTS:
                decided = decided_slots(self._database, name)
                change = declaring.redeclared(there, app, definition, answer, now, decided)
                self._apply(declaring.EVENTS[answer.action], there, change, origin, now)
            return answer

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Stop firing; raises ScheduleNotFound."""
        with self._database.transaction() as now:
            schedule = found(self._database, name)
            if schedule.paused_at is not None:
                return Verdict.ALREADY_APPLIED
            change = changes.paused(schedule, origin.reason, now, decided_slots(self._database, name))
            self._apply(Name.SCHEDULE_PAUSED, schedule, change, origin, now)
            return Verdict.ACCEPTED

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Fire again, from now on; raises ScheduleNotFound."""
        with self._database.transaction() as now:
            schedule = found(self._database, name)
            if schedule.paused_at is None:
                return Verdict.ALREADY_APPLIED
            self._apply(Name.SCHEDULE_RESUMED, schedule, changes.resumed(schedule, now), origin, now)
            return Verdict.ACCEPTED

    async def delete(self, name: str, origin: Origin, *, version: int | None = None) -> None:
        """Remove a schedule; its ledger stays, and says that what waited was skipped."""
        with self._database.transaction() as now:
            schedule = found(self._database, name, version)
            change = changes.deleted(schedule, now, decided_slots(self._database, name))
            self._apply(Name.SCHEDULE_DELETED, schedule, change, origin, now)
            if schedule.waiting is not None:
                self._skip(name, schedule.waiting)
            end_all(self._database, name, origin, now)
            del self._database.schedules[name]

    def _skip(self, name: str, waiting: Slot) -> None:
        entry = self._database.ledgers[name][evolve(waiting, cancels=False)]
        skipped = evolve(entry.firing, outcome=Outcome.SKIPPED, reason=Reason.EDITED)
        record(self._database, name, evolve(entry, firing=skipped))

    def _apply(
        self, event: Name, before: Schedule, change: changes.Change, origin: Origin, now: datetime
    ) -> Schedule:
        """Write a change, with the decisions it brings in the name of the version before it."""
        if change.firings:
            settle(self._database, before, change.decided, now)
        return self._write(event, change.schedule, origin, now, before)

    def _write(
        self, event: Name, schedule: Schedule, origin: Origin, now: datetime, before: Schedule | None = None
    ) -> Schedule:
        data = schedule_facts.describe_change(schedule, event, before)
        self._database.schedules[schedule.name] = schedule
        note(self._database, schedule.name, event, origin, now, data)
        self._database.ring()
        return schedule


def _matches(firing: Firing, where: LedgerFilter, before: datetime | None) -> bool:
    return (
        (before is None or firing.fire_at < before)
        and (where.outcomes is None or firing.outcome in where.outcomes)
        and (where.reasons is None or firing.reason in where.reasons)
        and (where.origin is None or firing.origin == where.origin)
    )
