"""Backfills as people ask for them and schedulers carry them out: decided in Python, written in one transaction."""

import logging
from collections.abc import Callable, Sequence

from ...application.ports.backfill_store import Requested
from ...application.ports.schedule_store import Fired
from ...domain import backfill_facts as facts
from ...domain.backfill import Backfill, Ending, Wanted, decide_next, requested, size
from ...domain.commands import Origin
from ...domain.errors import BackfillNotFound, ScheduleNotFound
from ...domain.firing_jobs import unfinished
from ...domain.schedule import readable
from ...domain.vocabulary import Verdict
from . import backfill_rows as rows
from . import schedule_rows
from .arrays import texts
from .aside import Aside
from .backfill_plan import begun, ended_early, moved
from .backfill_statements import backfill_statements
from .database import Database
from .errors import REFUSED, passes, said
from .firing_plan import Settlement, settle, settle_apart
from .locking import clock
from .query import Plan
from .rousing import rouse
from .schedule_jobs import job_states
from .schedule_plan import locked
from .schedule_statements import schedule_statements
from .schedule_waking import wake_schedulers

_log = logging.getLogger(__name__)


class PostgresBackfillStore:
    """Implements the ports ``BackfillStore`` and ``BackfillRounds``."""

    def __init__(self, database: Database, aside: Aside[str] | None = None) -> None:
        """Work on this database; each call is one transaction as long as nothing fails."""
        self._database, self._schema = database, database.schema
        self._statements = backfill_statements(database.schema)
        self._aside = aside or Aside()

    async def request(self, name: str, wanted: Wanted, origin: Origin) -> Requested:
        """Ask for a backfill, once for each request id of ``origin``; raises as the port says."""
        backfill = await self._database.run(lambda: self._request(name, wanted, origin))
        await wake_schedulers(self._database)
        return backfill

    async def size(self, name: str, wanted: Wanted) -> int:
        """Return how many fire times would be decided; raises as the port says."""
        return await self._database.run(lambda: self._size(name, wanted))

    async def stop(self, backfill_id: str, origin: Origin) -> Verdict:
        """Decide no further fire times; raises BackfillNotFound."""
        return await self._database.run(lambda: self._stop(backfill_id, origin))

    async def list(self, name: str, *, limit: int = 100) -> Sequence[Backfill]:
        """Return the backfills of a schedule, newest first."""
        found = await self._database.execute(self._statements.of_schedule(name=name, limit=limit))
        return [rows.backfill(row) for row in found]

    async def advance(self, limit: int) -> Fired:
        """Decide the next fire times of one backfill, for so many jobs at most; one that fails holds up no other."""
        found: list[Backfill] = []
        try:
            fired, queues = await self._database.run(lambda: self._advance(limit, found.append))
        except Exception as error:
            if passes(error) or not found:
                raise
            return await self._failed(found[-1], error)
        await rouse(self._database, queues)
        return fired

    async def _failed(self, backfill: Backfill, error: Exception) -> Fired:
        """Leave a backfill alone for a while; end it if the database takes nothing of what was decided about it."""
        self._aside.put(backfill.backfill_id)
        of, rule, is_refused = backfill.schedule, said(error), isinstance(error, REFUSED)
        trace = None if is_refused else error
        _log.error("a backfill of schedule %s can't be carried out: %s", of, rule, exc_info=trace)
        if is_refused:
            await self.stop(backfill.backfill_id, facts.refused(backfill, rule))
        return Fired(schedules=1, full=True, next_in=None)

    def _request(self, name: str, wanted: Wanted, origin: Origin) -> Plan[Requested]:
        schedule = yield from locked(self._schema, name)
        backfill_id = facts.backfill_id(name, origin)
        if found := (yield self._statements.get(backfill_id=backfill_id)):
            return Requested(facts.repeated(rows.backfill(found[0]), wanted), is_new=False)
        at = yield from clock(self._database.moment())
        backfill = requested(backfill_id, schedule, wanted, origin, at)
        yield from begun(self._schema, backfill)
        return Requested(backfill, is_new=True)

    def _size(self, name: str, wanted: Wanted) -> Plan[int]:
        found = yield schedule_statements(self._schema).get(name=name)
        if not found:
            raise ScheduleNotFound(f"there is no schedule {name}")
        at = yield from clock(self._database.moment())
        return size(readable(schedule_rows.schedule(found[0])).definition.timing, wanted, at)

    def _stop(self, backfill_id: str, origin: Origin) -> Plan[Verdict]:
        found = yield self._statements.get(backfill_id=backfill_id)
        if not found:
            raise BackfillNotFound(f"there is no backfill {backfill_id}")
        yield schedule_statements(self._schema).lock(name=rows.backfill(found[0]).schedule)
        [row] = yield self._statements.lock(backfill_id=backfill_id)
        backfill = rows.backfill(row)
        if backfill.next_at is None:
            return Verdict.ALREADY_APPLIED
        at = yield from clock(self._database.moment())
        yield from ended_early(self._schema, backfill, Ending.STOPPED, origin, at)
        return Verdict.ACCEPTED

    def _advance(self, limit: int, met: Callable[[Backfill], object]) -> Plan[tuple[Fired, set[str]]]:
        """Go on with the next one; ``met`` is told which that is."""
        found = yield self._statements.next(aside=texts(self._aside))
        if not found:
            return Fired(schedules=0, full=False, next_in=None), set()
        backfill = rows.backfill(found[0][: rows.WIDTH])
        met(backfill)
        schedule = schedule_rows.schedule(found[0][rows.WIDTH :])
        at = yield from clock(self._database.moment())
        if (origin := facts.broken(backfill, is_lost=schedule.fault is not None)) is not None:
            yield from ended_early(self._schema, backfill, Ending.STOPPED, origin, at)
            return Fired(schedules=1, full=True, next_in=None), set()
        apart = facts.is_apart(backfill)
        known = schedule if apart else unfinished(schedule, (yield from job_states(self._schema, [schedule])))
        step = decide_next(backfill, known, at, busy=bool(known.open_jobs), most=limit)
        if step.backfill == backfill:
            return Fired(schedules=1, full=False, next_in=None), set()
        write = settle_apart if apart else settle
        settlement = Settlement(facts.making(known, backfill), facts.decision(known, step))
        yield from write(self._schema, [settlement], at)
        yield from moved(self._schema, step.backfill)
        return Fired(schedules=1, full=True, next_in=None), {known.definition.template.queue}
