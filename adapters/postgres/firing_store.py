"""Makes jobs of schedules: each round locks what is due, decides in Python and writes everything at once."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from attrs import evolve

from ...application.ports.runs import runs
from ...application.ports.schedule_store import Fired, Triggered
from ...domain import schedule_changes as changes
from ...domain import schedule_facts, trigger_facts
from ...domain.commands import Origin
from ...domain.facts import instant
from ...domain.firing import decide_asked, decide_due
from ...domain.firing_jobs import (
    failed,
    failure,
    may_begin,
    obstacle,
    operation_origin,
    refused,
    stop,
    unfinished,
    with_jobs,
)
from ...domain.schedule import Overlap, Schedule, Slot
from ...domain.vocabulary import ControlEventName, State, Verdict
from . import schedule_rows as rows
from .arrays import numbers, texts
from .aside import Aside
from .database import Database
from .firing_plan import Settlement, settle, standings, submission
from .ledger_plan import NOTHING, Past, pasts
from .locking import clock
from .operating import operation_plan
from .query import Plan, Query
from .recomputing import outdated, recomputed
from .rousing import rouse
from .schedule_jobs import job_states
from .schedule_plan import locked, note
from .schedule_statements import schedule_statements
from .submit_insert import inserted
from .submit_statements import submit_statements
from .together import CarryOut, Find, Found, Mark, Refusal, Round, Together

_log = logging.getLogger(__name__)


class PostgresFiringStore:
    """Implements the port ``FiringStore``."""

    def __init__(self, database: Database, aside: Aside[Mark] | None = None) -> None:
        """Work on this database; each call is one transaction as long as nothing fails."""
        self._database, self._schema = database, database.schema
        self._statements = schedule_statements(database.schema)
        self._together = Together(database, aside or Aside())

    async def fire(self, limit: int) -> Fired:
        """Decide what is due for so many schedules at most."""
        return await self._round(lambda: self._due(limit), self._fire)

    async def release(self, limit: int) -> Fired:
        """Insert the jobs that waited for others to end."""
        return await self._round(lambda: self._waiting(limit), self._release)

    async def recompute(self, limit: int) -> int:
        """Compute next fire times anew that come from older rules of time zones; return how many it looked at."""
        return (await self._round(lambda: self._outdated(limit), self._recompute)).schedules

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Triggered:
        """Fire now, once for each request id of ``origin``; raises ScheduleNotFound, KeyConflict."""
        triggered, queues = await self._database.run(lambda: self._trigger(name, overlap, origin))
        await rouse(self._database, queues)
        return triggered

    async def _round(self, find: Find, carry_out: CarryOut) -> Fired:
        done = await self._together.run(find, carry_out)
        await rouse(self._database, done.queues)
        if done.queues:  # others got their jobs: it is not the database that takes none at all
            for one in done.refused:
                await self._database.run(partial(self._pause_refused, one))
        return done.fired

    def _fire(self, found: Found) -> Plan[Round]:
        now = self._database.moment()
        full, queues = found.full, frozenset[str]()
        if found.schedules:
            at = yield from clock(now)
            states = yield from job_states(self._schema, found.schedules)
            settlements = yield from self._decide(found.schedules, states, at)
            queues = frozenset(one.schedule.definition.template.queue for one in settlements if one.is_work)
            full = full or any(one.decided.leaves_due(at) for one in settlements)
        [[next_in]] = yield self._statements.next(now=now)
        return Round(Fired(schedules=len(found.schedules), full=full, next_in=next_in), queues)

    def _due(self, limit: int) -> Plan[Found]:
        """Lock what is due, and tell whether there may be more: who is on time goes before those who catch up."""
        now = self._database.moment()
        number, on_time = yield from self._sound(
            lambda most: self._statements.due(now=now, limit=most), limit
        )
        rest = limit - number
        if rest <= 0:
            return Found(schedules=on_time, full=bool(on_time))
        number, behind = yield from self._sound(
            lambda most: self._statements.behind(now=now, limit=most), rest
        )
        return Found(schedules=[*on_time, *behind], full=number >= rest and bool(behind))

    def _waiting(self, limit: int) -> Plan[Found]:
        number, schedules = yield from self._sound(lambda most: self._statements.waiting(limit=most), limit)
        return Found(schedules=schedules, full=number >= limit)

    def _outdated(self, limit: int) -> Plan[Found]:
        moment = self._database.moment()
        _, schedules = yield from self._sound(lambda most: outdated(self._schema, most, moment), limit)
        return Found(schedules=schedules)

    def _sound(self, ask: Callable[[int], Query], limit: int) -> Plan[tuple[int, list[Schedule]]]:
        return rows.some_readable(ask, limit, self._together.sound)

    def _recompute(self, found: Found) -> Plan[Round]:
        if found.schedules:
            yield from recomputed(self._schema, found.schedules, self._database.moment())
        return Round(Fired(schedules=len(found.schedules), full=False, next_in=None))

    def _decide(
        self, schedules: Sequence[Schedule], states: Mapping[int, State], at: datetime
    ) -> Plan[list[Settlement]]:
        behind = yield from pasts(self._schema, schedules, at)
        settlements: list[Settlement] = []
        for schedule in schedules:
            known, past = unfinished(schedule, states), behind.get(schedule.name, NOTHING)
            if (origin := obstacle(known, states)) is not None:
                settlements.append((yield from self._pause(known, past, origin, at)))
            else:
                busy, among = bool(known.open_jobs), len(schedules)
                decided = decide_due(known, at, busy=busy, decided=past.decided, among=among)
                settlements.append(Settlement(known, decided, past.newest))
        yield from settle(self._schema, settlements, at)
        yield from self._cancel(settlements)
        return settlements

    def _pause(self, schedule: Schedule, past: Past, origin: Origin, at: datetime) -> Plan[Settlement]:
        """Pause a schedule that can't go on; what is due is skipped, and what waits waits on."""
        change = changes.paused(schedule, origin.reason, at, past.decided)
        data = schedule_facts.describe_change(change.schedule, ControlEventName.SCHEDULE_PAUSED)
        yield note(self._schema, schedule.name, ControlEventName.SCHEDULE_PAUSED, origin, at, data)
        _log.warning("schedule %s is paused: %s", schedule.name, origin.reason)
        return Settlement(change.schedule, change.decided)

    def _cancel(self, settlements: Iterable[Settlement]) -> Plan[None]:
        for one in settlements:
            if one.decided.cancel and one.schedule.open_jobs:
                yield from self._ask_to_stop(one.schedule)

    def _ask_to_stop(self, schedule: Schedule) -> Plan[bool]:
        """Ask its jobs to stop; who is locked by somebody else now is asked when the waiting firing is looked at."""
        verdicts, _ = yield from operation_plan(
            self._schema, sorted(schedule.open_jobs), stop(schedule), self._database.moment()
        )
        return Verdict.ACCEPTED in verdicts.values()

    def _release(self, found: Found) -> Plan[Round]:
        if not (schedules := found.schedules):
            return Round(Fired(schedules=0, full=False, next_in=None))
        at = yield from clock(self._database.moment())
        states = yield from job_states(self._schema, schedules)
        known = [unfinished(schedule, states) for schedule in schedules]
        asked = 0
        for schedule in known:
            if not may_begin(schedule) and schedule.waiting is not None and schedule.waiting.cancels:
                asked += yield from self._ask_to_stop(schedule)
        ready = [schedule for schedule in known if may_begin(schedule)]
        yield from self._pause_all([(one, failure(one)) for one in ready if failed(one, states)], at)
        free = [schedule for schedule in ready if not failed(schedule, states)]
        yield from self._insert(free)
        full = found.full and bool(asked or ready)
        queues = frozenset(schedule.definition.template.queue for schedule in free)
        return Round(Fired(schedules=len(schedules), full=full, next_in=None), queues)

    def _pause_refused(self, one: Refusal) -> Plan[None]:
        """Pause a schedule that the database takes no decision about, unless somebody has changed it."""
        if (yield from self._together.unchanged(one.schedule)):
            at = yield from clock(self._database.moment())
            yield from self._pause_all([(one.schedule, refused(one.schedule, one.rule))], at)

    def _pause_all(self, broken: Sequence[tuple[Schedule, Origin]], at: datetime) -> Plan[None]:
        """Pause schedules that can't go on before what waits for them gets a job."""
        if not broken:
            return
        behind = yield from pasts(self._schema, [schedule for schedule, _ in broken], at)
        settlements: list[Settlement] = []
        for schedule, origin in broken:
            past = behind.get(schedule.name, NOTHING)
            settlements.append((yield from self._pause(schedule, past, origin, at)))
        yield from settle(self._schema, settlements, at)

    def _insert(self, free: Sequence[Schedule]) -> Plan[None]:
        """Insert the job of each waiting firing, and write into the ledger which it is."""
        if not free:
            return
        drawn = yield submit_statements(self._schema).draw_ids(number=len(free))
        ids = [job_id for (job_id,) in drawn]
        slots = [schedule.waiting for schedule in free if schedule.waiting is not None]
        jobs = [submission(schedule, slot) for schedule, slot in zip(free, slots, strict=True)]
        yield from inserted(submit_statements(self._schema), runs(jobs), ids, self._database.moment())
        yield self._statements.released(
            schedule=texts([schedule.name for schedule in free]),
            fire_at=texts([instant(slot.fire_at) for slot in slots]),
            origin=texts([slot.origin for slot in slots]),
            job_id=numbers(ids),
            **dict.fromkeys(("outcome", "reason"), texts([None] * len(free))),
        )
        after = [
            with_jobs(evolve(schedule, waiting=None), [job_id])
            for schedule, job_id in zip(free, ids, strict=True)
        ]
        yield self._statements.stand(**standings(after))

    def _trigger(self, name: str, overlap: Overlap, origin: Origin) -> Plan[tuple[Triggered, set[str]]]:
        schedule = yield from locked(self._schema, name)
        asked_by = operation_origin("trigger", origin.request_id or "")
        if earlier := (yield self._statements.asked(name=name, origin=asked_by)):
            [[told]] = yield self._statements.triggered(name=name, origin=asked_by)
            first = trigger_facts.repeated(rows.firing(earlier[0]), told, overlap)
            return Triggered(first, is_new=False), set()
        at = yield from clock(self._database.moment())
        known = unfinished(schedule, (yield from job_states(self._schema, [schedule])))
        slot = Slot(at, asked_by)
        decided = decide_asked(known, slot, overlap, busy=bool(known.open_jobs))
        settlement = Settlement(known, decided)
        [after] = yield from settle(self._schema, [settlement], at)
        yield from self._cancel([settlement])
        data = trigger_facts.describe(slot, overlap)
        yield note(self._schema, name, ControlEventName.SCHEDULE_TRIGGERED, origin, at, data)
        [written] = yield self._statements.asked(name=name, origin=asked_by)
        return Triggered(rows.firing(written), is_new=True), {after.definition.template.queue}
