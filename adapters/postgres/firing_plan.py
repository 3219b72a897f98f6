"""Writing decisions about schedules: the ledger, the jobs and where the schedules stand, in one transaction."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256

from attrs import evolve, frozen

from ...application.ports.runs import runs
from ...application.ports.submitter import Submission
from ...domain.commands import Origin, Submit
from ...domain.facts import instant
from ...domain.firing import RANGES, Decided, Firing, Outcome, due_at
from ...domain.schedule import CRON, Schedule, Slot
from ...domain.zones import TZ_VERSION
from .arrays import texts, values
from .query import Plan
from .schedule_rows import firing, standing
from .schedule_statements import schedule_statements
from .submit_insert import inserted
from .submit_statements import submit_statements

OPEN_JOBS = 1_000
"""Unfinished jobs of one schedule that are remembered; of more, the newest."""


@frozen
class Settlement:
    """One schedule, and what was decided about it."""

    schedule: Schedule
    decided: Decided


@frozen(eq=False)
class _Row:
    """One row of the ledger to write; ``job_id`` is drawn for one that gets a job."""

    settlement: Settlement
    firing: Firing

    @property
    def key(self) -> tuple[str, datetime, str]:
        return self.settlement.schedule.name, self.firing.fire_at, self.firing.origin


def settle(
    schema: str, settlements: Sequence[Settlement], at: datetime, now: datetime | None
) -> Plan[list[Schedule]]:
    """Write what was decided at ``at``; return the schedules as they stand then, with the jobs they got."""
    statements = schedule_statements(schema)
    rows = yield from _grown(schema, settlements)
    rows = yield from _numbered(schema, rows)
    if rows:
        recorded = yield statements.record(**_ledger(rows), tz_version=TZ_VERSION, at=at)
        new = {(name, fire_at, origin) for name, fire_at, origin in recorded}
        rows = [row for row in rows if row.key in new]
    fired = [row for row in rows if row.firing.job_id is not None]
    if fired:
        yield from inserted(
            submit_statements(schema),
            runs(map(_submission, fired)),
            [row.firing.job_id for row in fired],
            now,
        )
    after = [_standing(settlement, fired) for settlement in settlements]
    yield statements.stand(**standings(after))
    return after


def standings(schedules: Iterable[Schedule]) -> dict[str, str]:
    """Return where schedules stand, as arrays by column."""
    rows = [standing(one) for one in schedules]
    return {name: values([row[name] for row in rows]) for name in rows[0]}


def with_jobs(schedule: Schedule, job_ids: Sequence[int]) -> Schedule:
    """Remember new jobs of a schedule."""
    if not job_ids:
        return schedule
    return evolve(schedule, open_jobs=(*schedule.open_jobs, *job_ids)[-OPEN_JOBS:], last_job=job_ids[-1])


def submission(schedule: Schedule, slot: Slot) -> Submission:
    """Return the job of a firing; its effect key is the slot's, so that it is the same whenever it is inserted."""
    key = f"schedule:{schedule.name}:{instant(slot.fire_at)}"
    specification = evolve(
        schedule.definition.template,
        effect_key=key if slot.origin == CRON else f"{key}:{slot.origin}",
        scheduled_for=slot.fire_at,
    )
    origin = Origin(f"schedule:{schedule.name}")
    run_at = due_at(schedule.name, schedule.definition.timing, slot.fire_at)
    return Submission(Submit(origin=origin, specification=specification, run_at=run_at))


def operation_origin(kind: str, operation_id: str) -> str:
    """Return the origin of firings that an operation asks for, of a length that fits into keys."""
    return f"{kind}:{sha256(operation_id.encode()).hexdigest()[:32]}"


def _grown(schema: str, settlements: Sequence[Settlement]) -> Plan[list[_Row]]:
    """Let skips that go on where the ledger ends share its last row; return the rows that are new."""
    rows = [_Row(settlement, one) for settlement in settlements for one in settlement.decided.firings]
    first = {one.schedule.name: one.decided.firings[0] for one in settlements if one.decided.firings}
    wanted = [name for name, one in first.items() if one.outcome in RANGES and one.origin == CRON]
    if not wanted:
        return rows
    statements = schedule_statements(schema)
    found = yield statements.newest(names=texts(wanted))
    newest = {name: firing(row) for name, *row in found}
    joined = {name for name in wanted if name in newest and first[name].joins(newest[name])}
    if joined:
        yield statements.grow(
            schedule=texts(joined),
            fire_at=values([newest[name].fire_at for name in joined]),
            until=values([first[name].last for name in joined]),
            count=values([first[name].count for name in joined]),
        )
    grown = {(name, first[name].fire_at, CRON) for name in joined}
    return [row for row in rows if row.key not in grown]


def _numbered(schema: str, rows: Sequence[_Row]) -> Plan[list[_Row]]:
    """Draw an id for each job to come."""
    number = sum(row.firing.outcome is Outcome.FIRED for row in rows)
    if not number:
        return list(rows)
    drawn = yield submit_statements(schema).draw_ids(number=number)
    ids: Iterator[int] = (job_id for (job_id,) in drawn)
    return [
        _Row(row.settlement, evolve(row.firing, job_id=next(ids)))
        if row.firing.outcome is Outcome.FIRED
        else row
        for row in rows
    ]


def _submission(row: _Row) -> Submission:
    return submission(row.settlement.schedule, Slot(row.firing.fire_at, row.firing.origin))


def _standing(settlement: Settlement, fired: Iterable[_Row]) -> Schedule:
    decided = settlement.decided
    moved = evolve(settlement.schedule, next_fire_at=decided.next_fire_at, waiting=decided.waiting)
    return with_jobs(
        moved, [row.firing.job_id for row in fired if row.settlement is settlement and row.firing.job_id]
    )


def _ledger(rows: Sequence[_Row]) -> dict[str, str]:
    of_firings = ("fire_at", "origin", "outcome", "reason", "count", "job_id")
    return {
        **{name: values([getattr(row.firing, name) for row in rows]) for name in of_firings},
        "until": values([row.firing.last for row in rows]),
        "schedule": values([row.settlement.schedule.name for row in rows]),
        "version": values([row.settlement.schedule.version for row in rows]),
    }
