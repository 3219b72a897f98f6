"""Makes jobs of schedules: each round locks what is due, decides in Python and writes everything at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from attrs import evolve

from ...application.ports.runs import runs
from ...application.ports.schedule_store import Fired
from ...domain import schedule_changes as changes
from ...domain import schedule_facts, trigger_facts
from ...domain.commands import Origin
from ...domain.facts import instant
from ...domain.firing import Firing, decide_asked, decide_due
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
from ...domain.schedule import Overlap, Schedule, Slot
from ...domain.vocabulary import ControlEventName, State, Verdict
from . import schedule_rows as rows
from .arrays import numbers, texts
from .database import Database
from .firing_plan import Settlement, settle, standings, submission
from .ledger_plan import NOTHING, Past, pasts
from .locking import clock
from .operating import operation_plan
from .query import Plan
from .recomputing import recomputed
from .rousing import rouse
from .schedule_jobs import job_states
from .schedule_plan import locked, note
from .schedule_statements import schedule_statements
from .submit_insert import inserted
from .submit_statements import submit_statements

Round = tuple[Fired, set[str]]
"""What a round has come to, and the queues that got jobs or cancellations."""


class PostgresFiringStore:
    """Implements the port ``FiringStore``."""

    def __init__(self, database: Database) -> None:
        """Work on this database; each call is one transaction."""
        self._database, self._schema = database, database.schema
        self._statements = schedule_statements(database.schema)

    async def fire(self, limit: int) -> Fired:
        """Decide what is due for so many schedules at most."""
        return await self._round(lambda: self._fire(limit))

    async def release(self, limit: int) -> Fired:
        """Insert the jobs that waited for others to end."""
        return await self._round(lambda: self._release(limit))

    async def recompute(self, limit: int) -> int:
        """Compute next fire times anew that come from older rules of time zones; return how many it looked at."""
        return await self._database.run(lambda: recomputed(self._schema, limit, self._database.moment()))

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Firing:
        """Fire now, once for each request id of ``origin``; raises ScheduleNotFound, KeyConflict."""
        firing, queues = await self._database.run(lambda: self._trigger(name, overlap, origin))
        await rouse(self._database, queues)
        return firing

    async def _round(self, plan: Callable[[], Plan[Round]]) -> Fired:
        fired, queues = await self._database.run(plan)
        await rouse(self._database, queues)
        return fired

    def _fire(self, limit: int) -> Plan[Round]:
        now = self._database.moment()
        full, schedules = yield from self._due(now, limit)
        queues = set[str]()
        if schedules:
            at = yield from clock(now)
            states = yield from job_states(self._schema, schedules)
            settlements = yield from self._decide(schedules, states, at)
            queues = {one.schedule.definition.template.queue for one in settlements if one.decided.firings}
            full = full or any(one.decided.leaves_due(at) for one in settlements)
        [[next_in]] = yield self._statements.next(now=now)
        return Fired(schedules=len(schedules), full=full, next_in=next_in), queues

    def _due(self, now: datetime | None, limit: int) -> Plan[tuple[bool, list[Schedule]]]:
        """Lock what is due, and tell whether there may be more: who is on time goes before those who catch up."""
        number, on_time = yield from rows.some_readable(
            lambda most: self._statements.due(now=now, limit=most), limit
        )
        rest = limit - number
        if rest <= 0:
            return bool(on_time), on_time
        number, behind = yield from rows.some_readable(
            lambda most: self._statements.behind(now=now, limit=most), rest
        )
        return number >= rest and bool(behind), [*on_time, *behind]

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

    def _release(self, limit: int) -> Plan[Round]:
        _, schedules = yield from rows.some_readable(lambda most: self._statements.waiting(limit=most), limit)
        if not schedules:
            return Fired(schedules=0, full=False, next_in=None), set()
        at = yield from clock(self._database.moment())
        states = yield from job_states(self._schema, schedules)
        known = [unfinished(schedule, states) for schedule in schedules]
        asked = 0
        for schedule in known:
            if not may_begin(schedule) and schedule.waiting is not None and schedule.waiting.cancels:
                asked += yield from self._ask_to_stop(schedule)
        ready = [schedule for schedule in known if may_begin(schedule)]
        broken = [schedule for schedule in ready if failed(schedule, states)]
        yield from self._pause_all(broken, at)
        free = [schedule for schedule in ready if not failed(schedule, states)]
        yield from self._insert(free)
        full = len(schedules) == limit and bool(asked or ready)
        queues = {schedule.definition.template.queue for schedule in free}
        return Fired(schedules=len(schedules), full=full, next_in=None), queues

    def _pause_all(self, broken: Sequence[Schedule], at: datetime) -> Plan[None]:
        """Pause schedules whose last job is dead before what waits for it gets a job."""
        if not broken:
            return
        behind = yield from pasts(self._schema, broken, at)
        settlements: list[Settlement] = []
        for schedule in broken:
            past = behind.get(schedule.name, NOTHING)
            settlements.append((yield from self._pause(schedule, past, failure(schedule), at)))
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

    def _trigger(self, name: str, overlap: Overlap, origin: Origin) -> Plan[tuple[Firing, set[str]]]:
        schedule = yield from locked(self._schema, name)
        asked_by = operation_origin("trigger", origin.request_id or "")
        if earlier := (yield self._statements.asked(name=name, origin=asked_by)):
            [[told]] = yield self._statements.triggered(name=name, origin=asked_by)
            return trigger_facts.repeated(rows.firing(earlier[0]), told, overlap), set()
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
        return rows.firing(written), {after.definition.template.queue}
