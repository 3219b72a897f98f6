"""Schedules as people change them: the row is locked, the change decided in Python and written with its event."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ...application.ports.schedule_store import EVERY_ROW, Created, LedgerFilter
from ...domain import declaring, schedule_facts
from ...domain import schedule_changes as changes
from ...domain.commands import Origin
from ...domain.declaring import Declared
from ...domain.errors import ScheduleExists, Unavailable
from ...domain.facts import instant
from ...domain.firing import Outcome, Reason
from ...domain.firing_jobs import inheriting
from ...domain.ledger import Entry
from ...domain.schedule import Definition, Schedule, readable
from ...domain.vocabulary import ControlEventName as Name
from ...domain.vocabulary import Verdict
from . import schedule_rows as rows
from .arrays import numbers, texts
from .backfill_plan import all_ended
from .database import Database
from .firing_plan import Settlement, settle, standings
from .ledger_plan import NOTHING, Past, past
from .locking import clock
from .query import Plan, Query
from .schedule_plan import locked, locked_as_it_is, note
from .schedule_statements import schedule_statements
from .schedule_waking import wake_schedulers

T = TypeVar("T")
ROUNDS = 3
"""So often a create looks again: each time somebody else has created and deleted the schedule in between."""


class PostgresScheduleStore:
    """Implements the ports ``ScheduleStore`` and ``ScheduleReader``."""

    def __init__(self, database: Database) -> None:
        """Work on this database."""
        self._database, self._schema = database, database.schema
        self._statements = schedule_statements(database.schema)

    async def get(self, name: str) -> Schedule | None:
        """Return a schedule as it is now."""
        found = await self._database.execute(self._statements.get(name=name))
        return rows.schedule(found[0]) if found else None

    async def list(self, *, after: str = "", limit: int = 100) -> Sequence[Schedule]:
        """Return schedules by name."""
        found = await self._database.execute(self._statements.list(after=after, limit=limit))
        return [rows.schedule(row) for row in found]

    async def declared(self, app: str, names: Sequence[str]) -> Sequence[Schedule]:
        """Return the schedules that an app declares and those of these names, by name."""
        found = await self._database.execute(self._statements.declared(app=app, names=texts(names)))
        return [rows.schedule(row) for row in found]

    async def firings(
        self,
        name: str,
        where: LedgerFilter = EVERY_ROW,
        *,
        before: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[Entry]:
        """Return the ledger of a schedule, newest fire time first."""
        query = self.firings_query(name, where, before, limit)
        return [rows.entry(row) for row in await self._database.execute(query)]

    def firings_query(self, name: str, where: LedgerFilter, before: datetime | None, limit: int) -> Query:
        """Return what reads a page of a ledger: by its primary key, from ``before`` on."""
        return self._statements.ledger(
            name=name,
            outcomes=None if where.outcomes is None else texts(sorted(where.outcomes)),
            reasons=None if where.reasons is None else texts(sorted(where.reasons)),
            origin=where.origin,
            before=before,
            limit=limit,
        )

    async def create(self, name: str, definition: Definition, origin: Origin) -> Created:
        """Create a schedule; raises ScheduleExists unless the one that is there has the same definition."""
        return await self._changed(lambda: self._create(name, definition, origin))

    async def edit(
        self, name: str, definition: Definition, origin: Origin, *, version: int | None = None
    ) -> Schedule:
        """Replace the definition; raises ScheduleNotFound, VersionConflict unless ``version`` is None or current."""
        return await self._changed(lambda: self._edit(name, definition, origin, version))

    async def declare(
        self, name: str, definition: Definition, origin: Origin, *, app: str, force: bool = False
    ) -> Declared:
        """Do what ``domain.declaring.judged`` says; of several at once, one creates and the others find it there.

        Raises InvalidInput as ``create`` does.
        """
        return await self._changed(lambda: self._declare(name, definition, origin, app, force))

    async def pause(self, name: str, origin: Origin) -> Verdict:
        """Stop firing; raises ScheduleNotFound."""
        return await self._database.run(lambda: self._pause(name, origin))

    async def resume(self, name: str, origin: Origin) -> Verdict:
        """Fire again, from now on; raises ScheduleNotFound."""
        return await self._changed(lambda: self._resume(name, origin))

    async def delete(self, name: str, origin: Origin, *, version: int | None = None) -> None:
        """Remove a schedule; its ledger stays. Raises ScheduleNotFound, VersionConflict."""
        await self._database.run(lambda: self._delete(name, origin, version))

    async def _changed(self, plan: Callable[[], Plan[T]]) -> T:
        answer = await self._database.run(plan)
        await wake_schedulers(self._database)
        return answer

    def _create(self, name: str, definition: Definition, origin: Origin) -> Plan[Created]:
        schedule, is_new = yield from self._there(
            name, lambda at: changes.created(name, definition, at), origin
        )
        if not (is_new or changes.is_defined_by(readable(schedule), definition)):
            raise ScheduleExists(declaring.defined_otherwise(schedule, definition))
        return Created(schedule, is_new)

    def _there(
        self, name: str, make: Callable[[datetime], Schedule], origin: Origin
    ) -> Plan[tuple[Schedule, bool]]:
        """Return the schedule of a name, locked, and whether it is new: ``make`` makes the one that is not there."""
        for _ in range(ROUNDS):
            if found := (yield self._statements.lock(name=name)):
                return rows.schedule(found[0]), False
            at = yield from clock(self._database.moment())
            schedule = make(at)
            if (yield self._statements.insert(**_row(schedule, rows.NEW))):
                known = yield from self._inheriting(schedule)
                yield self._note(Name.SCHEDULE_CREATED, known, origin, at)
                return known, True
            # somebody else was faster: theirs is there now, unless it is gone again
        raise Unavailable(f"schedule {name} is neither there nor taken in: try again")

    def _inheriting(self, schedule: Schedule) -> Plan[Schedule]:
        last = yield self._statements.last_version(name=schedule.name)
        if not last:
            return schedule
        earlier = yield self._statements.earlier(name=schedule.name)
        known = inheriting(schedule, last[0][0], [job_id for [job_id] in earlier])
        yield self._statements.stand(**standings([known]))
        return known

    def _edit(self, name: str, definition: Definition, origin: Origin, version: int | None) -> Plan[Schedule]:
        schedule = yield from locked_as_it_is(self._schema, name, version)
        if changes.is_defined_by(schedule, definition):
            return schedule
        at = yield from clock(self._database.moment())
        behind = yield from past(self._schema, schedule, at)
        change = changes.edited(schedule, definition, at, behind.decided)
        return (yield from self._apply(Name.SCHEDULE_EDITED, schedule, change, origin, at, behind))

    def _declare(
        self, name: str, definition: Definition, origin: Origin, app: str, force: bool
    ) -> Plan[Declared]:
        there, is_new = yield from self._there(
            name, lambda at: declaring.newly_declared(name, app, definition, at), origin
        )
        if is_new:
            return declaring.judged(name, None, app, definition)
        answer = declaring.judged(name, there, app, definition, force=force)
        if answer.action in declaring.EVENTS:
            at = yield from clock(self._database.moment())
            behind = yield from past(self._schema, there, at)
            change = declaring.redeclared(there, app, definition, answer, at, behind.decided)
            yield from self._apply(declaring.EVENTS[answer.action], there, change, origin, at, behind)
        return answer

    def _pause(self, name: str, origin: Origin) -> Plan[Verdict]:
        schedule = yield from locked_as_it_is(self._schema, name)
        if schedule.paused_at is not None:
            return Verdict.ALREADY_APPLIED
        at = yield from clock(self._database.moment())
        behind = yield from past(self._schema, schedule, at)
        change = changes.paused(schedule, origin.reason, at, behind.decided)
        yield from self._apply(Name.SCHEDULE_PAUSED, schedule, change, origin, at, behind)
        return Verdict.ACCEPTED

    def _resume(self, name: str, origin: Origin) -> Plan[Verdict]:
        schedule = yield from locked(self._schema, name)
        if schedule.paused_at is None:
            return Verdict.ALREADY_APPLIED
        at = yield from clock(self._database.moment())
        yield from self._apply(Name.SCHEDULE_RESUMED, schedule, changes.resumed(schedule, at), origin, at)
        return Verdict.ACCEPTED

    def _delete(self, name: str, origin: Origin, version: int | None) -> Plan[None]:
        schedule = yield from locked_as_it_is(self._schema, name, version)
        at = yield from clock(self._database.moment())
        behind = yield from past(self._schema, schedule, at)
        change = changes.deleted(schedule, at, behind.decided)
        yield from self._apply(Name.SCHEDULE_DELETED, schedule, change, origin, at, behind)
        if schedule.waiting is not None:
            yield self._statements.released(
                schedule=texts([name]),
                fire_at=texts([instant(schedule.waiting.fire_at)]),
                origin=texts([schedule.waiting.origin]),
                job_id=numbers([None]),
                outcome=texts([Outcome.SKIPPED.value]),
                reason=texts([Reason.EDITED.value]),
            )
        yield from all_ended(self._schema, name, origin, at)
        yield self._statements.delete(name=name)

    def _apply(
        self,
        event: Name,
        before: Schedule,
        change: changes.Change,
        origin: Origin,
        at: datetime,
        behind: Past = NOTHING,
    ) -> Plan[Schedule]:
        """Write a change, with the decisions it brings in the name of the version before it.

        What defines the schedule is written only if it changes: nobody may be able to read it, or not all of it.
        """
        after = change.schedule
        if change.firings:
            yield from settle(self._schema, [Settlement(before, change.decided, behind.newest)], at)
        if (after.definition, after.declared) == (before.definition, before.declared):
            yield self._statements.stand(**standings([after]))
        else:
            yield self._statements.update(**_row(after, rows.WHOLE))
        yield self._note(event, after, origin, at, before)
        return after

    def _note(
        self, event: Name, schedule: Schedule, origin: Origin, at: datetime, before: Schedule | None = None
    ) -> Query:
        data = schedule_facts.describe_change(schedule, event, before)
        return note(self._schema, schedule.name, event, origin, at, data)


def _row(schedule: Schedule, wanted: Sequence[str]) -> dict[str, Any]:
    values = rows.columns(schedule)
    return {name: values[name] for name in wanted}
