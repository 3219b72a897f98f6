"""Makes jobs of schedules: each round locks what is due, decides in Python and writes everything at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from attrs import evolve

from ...application.ports.runs import runs
from ...application.ports.schedule_store import Fired
from ...domain import schedule_changes as changes
from ...domain.commands import Cancel, Origin
from ...domain.facts import instant
from ...domain.firing import Decided, Firing, decide_asked, decide_due
from ...domain.schedule import Overlap, Schedule, Slot
from ...domain.vocabulary import ControlEventName, State
from . import schedule_rows as rows
from .arrays import numbers, texts
from .database import Database
from .firing_plan import Settlement, operation_origin, settle, standings, submission, with_jobs
from .locking import clock
from .operating import operation_plan
from .query import Plan
from .rousing import rouse
from .schedule_plan import locked, note
from .schedule_statements import schedule_statements
from .submit_insert import inserted
from .submit_statements import submit_statements

_UNFINISHED = frozenset({State.PENDING.value, State.RUNNING.value})
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

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Firing:
        """Fire now, once for each request id of ``origin``; raises ScheduleNotFound."""
        firing, queues = await self._database.run(lambda: self._trigger(name, overlap, origin))
        await rouse(self._database, queues)
        return firing

    async def _round(self, plan: Callable[[], Plan[Round]]) -> Fired:
        fired, queues = await self._database.run(plan)
        await rouse(self._database, queues)
        return fired

    def _fire(self, limit: int) -> Plan[Round]:
        now = self._database.moment()
        due = yield self._statements.due(now=now, limit=limit)
        schedules = [rows.schedule(row) for row in due]
        queues: set[str] = set()
        if schedules:
            at = yield from clock(now)
            states = yield from self._states(schedules)
            queues = yield from self._decide(schedules, states, at)
        [[next_in]] = yield self._statements.next(now=now)
        return Fired(schedules=len(schedules), full=len(schedules) == limit, next_in=next_in), queues

    def _decide(
        self, schedules: Iterable[Schedule], states: Mapping[int, str], at: datetime
    ) -> Plan[set[str]]:
        settlements = []
        for schedule in schedules:
            known = _known(schedule, states)
            if _failed(known, states):
                settlements.append((yield from self._pause(known, at)))
            else:
                settlements.append(Settlement(known, decide_due(known, at, busy=bool(known.open_jobs))))
        yield from settle(self._schema, settlements, at, self._database.moment())
        yield from self._cancel(settlements)
        return {one.schedule.definition.template.queue for one in settlements if one.decided.firings}

    def _pause(self, schedule: Schedule, at: datetime) -> Plan[Settlement]:
        """Pause a schedule whose last job is dead; what is due is skipped."""
        reason = f"job {schedule.last_job} is dead"
        change = changes.paused(schedule, reason, at)
        origin = Origin(f"schedule:{schedule.name}", f"job:{schedule.last_job}", reason)
        data = {"version": change.schedule.version, "next_fire_at": None}
        yield note(self._schema, schedule.name, ControlEventName.SCHEDULE_PAUSED, origin, at, data)
        decided = Decided(firings=change.firings, next_fire_at=None, waiting=schedule.waiting)
        return Settlement(change.schedule, decided)

    def _cancel(self, settlements: Iterable[Settlement]) -> Plan[None]:
        for one in settlements:
            if one.decided.cancel and one.schedule.open_jobs:
                yield from self._ask_to_stop(one.schedule)

    def _ask_to_stop(self, schedule: Schedule) -> Plan[None]:
        """Ask its jobs to stop; who is locked by somebody else now is asked when the waiting firing is looked at."""
        origin = Origin(f"schedule:{schedule.name}", f"schedule:{schedule.name}", "a new firing is due")
        yield from operation_plan(
            self._schema, schedule.open_jobs, Cancel(origin=origin), self._database.moment()
        )

    def _release(self, limit: int) -> Plan[Round]:
        found = yield self._statements.waiting(limit=limit)
        schedules = [rows.schedule(row) for row in found]
        queues: set[str] = set()
        if schedules:
            states = yield from self._states(schedules)
            known = [_known(schedule, states) for schedule in schedules]
            for schedule in known:
                if schedule.open_jobs:
                    yield from self._ask_to_stop(schedule)
            free = [schedule for schedule in known if not schedule.open_jobs]
            yield from self._insert(free)
            queues = {schedule.definition.template.queue for schedule in free}
        return Fired(schedules=len(schedules), full=len(schedules) == limit, next_in=None), queues

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
            return rows.firing(earlier[0]), set()
        at = yield from clock(self._database.moment())
        known = _known(schedule, (yield from self._states([schedule])))
        decided = decide_asked(known, Slot(at, asked_by), overlap, busy=bool(known.open_jobs))
        settlement = Settlement(known, decided)
        [after] = yield from settle(self._schema, [settlement], at, self._database.moment())
        yield from self._cancel([settlement])
        data = {"fire_at": instant(at), "origin": asked_by, "overlap": overlap.value}
        yield note(self._schema, name, ControlEventName.SCHEDULE_TRIGGERED, origin, at, data)
        [written] = yield self._statements.asked(name=name, origin=asked_by)
        return rows.firing(written), {after.definition.template.queue}

    def _states(self, schedules: Iterable[Schedule]) -> Plan[dict[int, str]]:
        """Return the states of the jobs that schedules remember."""
        wanted = {job for one in schedules for job in (*one.open_jobs, one.last_job) if job is not None}
        if not wanted:
            return {}
        found = yield self._statements.states(job_ids=numbers(sorted(wanted)))
        states: dict[int, str] = dict(map(tuple, found))
        return states


def _known(schedule: Schedule, states: Mapping[int, str]) -> Schedule:
    """Forget the jobs that have ended; the last one is remembered, as somebody may requeue it."""
    candidates = dict.fromkeys([*schedule.open_jobs, *([schedule.last_job] if schedule.last_job else [])])
    unfinished = tuple(job for job in candidates if states.get(job) in _UNFINISHED)
    return evolve(schedule, open_jobs=unfinished)


def _failed(schedule: Schedule, states: Mapping[int, str]) -> bool:
    pauses = schedule.definition.policies.pause_on_failure
    return pauses and schedule.last_job is not None and states.get(schedule.last_job) == State.DEAD.value
