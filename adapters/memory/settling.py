"""Schedules beside their ledgers: what decisions have to know, and how they are written."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve

from ...domain.backfill_facts import is_apart
from ...domain.commands import Origin
from ...domain.decide import enqueue
from ...domain.decided import DecidedSlots
from ...domain.errors import ScheduleNotFound, VersionConflict
from ...domain.event import ControlEvent
from ...domain.firing import AT_ONCE, Decided, Firing
from ...domain.firing_jobs import inheriting, remembered, submit, with_jobs
from ...domain.ledger import Entry, goes_on
from ...domain.schedule import CRON, Schedule, Slot
from ...domain.vocabulary import ControlEventName, State
from ...domain.zones import TZ_VERSION
from .database import MemoryDatabase


def found(database: MemoryDatabase, name: str, version: int | None = None) -> Schedule:
    """Return a schedule; raises ScheduleNotFound, VersionConflict unless ``version`` is None or current."""
    schedule = database.schedules.get(name)
    if schedule is None:
        raise ScheduleNotFound(f"there is no schedule {name}")
    if version is not None and schedule.version != version:
        raise VersionConflict(f"schedule {name} has version {schedule.version}, not {version}")
    return schedule


def job_states(database: MemoryDatabase, schedule: Schedule) -> dict[int, State]:
    """Return the states of the jobs that a schedule remembers, as far as they are there."""
    jobs = (database.jobs.get(job_id) for job_id in remembered(schedule))
    return {job.job_id: job.state for job in jobs if job is not None}


def inherited(database: MemoryDatabase, schedule: Schedule) -> Schedule:
    """Let a new schedule go on where earlier ones of its name have ended; jobs that run apart do not count."""
    fired = (entry.firing for entry in database.ledgers.get(schedule.name, {}).values())
    jobs = (database.jobs.get(row.job_id) for row in fired if row.job_id and not _runs_apart(database, row))
    unfinished = sorted(job.job_id for job in jobs if job is not None and not job.terminal)
    return inheriting(schedule, _last_version(database, schedule.name), unfinished)


def _last_version(database: MemoryDatabase, name: str) -> int:
    ends = (one for one in told_of(database, name) if one.name is ControlEventName.SCHEDULE_DELETED)
    return max((end.data["version"] for end in ends), default=0)


def _runs_apart(database: MemoryDatabase, row: Firing) -> bool:
    backfill = database.backfills.get(row.origin)
    return backfill is not None and is_apart(backfill)


def decided_slots(database: MemoryDatabase, name: str) -> DecidedSlots:
    """Return the fire times of the clock that have had their decision."""
    return DecidedSlots(entry.firing for entry in _of_the_clock(database, name))


def settle(database: MemoryDatabase, schedule: Schedule, decided: Decided, now: datetime) -> Schedule:
    """Write what was decided, with the jobs that come of it; return the schedule as it stands then."""
    job_ids = recorded(database, schedule, _grown(database, schedule, decided.firings), now)
    moved = evolve(schedule, next_fire_at=decided.next_fire_at, waiting=decided.waiting)
    after = with_jobs(moved, job_ids)
    database.schedules[schedule.name] = after
    return after


def recorded(
    database: MemoryDatabase, schedule: Schedule, firings: Sequence[Firing], now: datetime
) -> list[int]:
    """Write rows of the ledger and the jobs that come of them; return which these are."""
    rows = [_with_job(database, schedule, row, now) for row in firings]
    for row in rows:
        record(database, schedule.name, Entry(row, schedule.version, TZ_VERSION, now))
    return [row.job_id for row in rows if row.job_id is not None]


def record(database: MemoryDatabase, name: str, entry: Entry) -> None:
    """Write a row of the ledger, over the one of the same slot if it is there."""
    slot = Slot(entry.firing.fire_at, entry.firing.origin)
    database.ledgers.setdefault(name, {})[slot] = entry


def insert_job(database: MemoryDatabase, schedule: Schedule, slot: Slot, now: datetime) -> int:
    """Insert the job of a firing."""
    event = enqueue(submit(schedule, slot), database.next_job_id(), now)
    return database.append(event).job_id


def note(
    database: MemoryDatabase,
    name: str,
    event: ControlEventName,
    origin: Origin,
    now: datetime,
    data: Mapping[str, Any],
) -> None:
    """Write an event about a schedule."""
    database.append_control(
        ControlEvent(
            subject=_subject(name),
            name=event,
            at=now,
            actor=origin.actor,
            request_id=origin.request_id,
            reason=origin.reason,
            data=data,
        )
    )


def told_of(database: MemoryDatabase, name: str) -> Iterator[ControlEvent]:
    """Yield the events about the schedules of a name."""
    return (event for event in database.control_events if event.subject == _subject(name))


def _subject(name: str) -> str:
    return f"schedule:{name}"


def _grown(database: MemoryDatabase, schedule: Schedule, firings: Sequence[Firing]) -> Sequence[Firing]:
    """Let skips that go on where the ledger ends share its last row; return the rows that are new."""
    newest = max(_of_the_clock(database, schedule.name), key=_fire_at, default=None)
    if newest is None or not firings or not goes_on(schedule, newest, firings[0]):
        return firings
    first, row = firings[0], newest.firing
    grown = evolve(row, until=first.last, count=row.count + first.count)
    record(database, schedule.name, evolve(newest, firing=grown))
    return firings[1:]


def _with_job(database: MemoryDatabase, schedule: Schedule, firing: Firing, now: datetime) -> Firing:
    if firing.outcome not in AT_ONCE:
        return firing
    slot = Slot(firing.fire_at, firing.origin)
    return evolve(firing, job_id=insert_job(database, schedule, slot, now))


def _of_the_clock(database: MemoryDatabase, name: str) -> list[Entry]:
    ledger = database.ledgers.get(name, {})
    return [entry for slot, entry in ledger.items() if slot.origin == CRON]


def _fire_at(entry: Entry) -> datetime:
    return entry.firing.fire_at
