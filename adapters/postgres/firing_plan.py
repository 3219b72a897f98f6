"""Writing decisions about schedules: the ledger, the jobs and where the schedules stand, in one transaction."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from attrs import evolve, frozen

from ...application.ports.runs import runs
from ...application.ports.submitter import Submission
from ...domain.firing import AT_ONCE, Decided, Firing
from ...domain.firing_jobs import submit, with_jobs
from ...domain.ledger import Entry, goes_on
from ...domain.schedule import Schedule, Slot
from ...domain.zones import TZ_VERSION
from .arrays import texts, values
from .query import Plan
from .schedule_rows import standing
from .schedule_statements import schedule_statements
from .submit_insert import inserted
from .submit_statements import submit_statements


@frozen(eq=False)
class Settlement:
    """One schedule, what was decided about it, and the row of its ledger that the decision came after."""

    schedule: Schedule
    decided: Decided
    newest: Entry | None = None

    @property
    def is_work(self) -> bool:
        """Whether workers have something to do: a job, or a request to stop one."""
        decided = self.decided
        return decided.cancel or any(one.outcome in AT_ONCE for one in decided.firings)


@frozen(eq=False)
class _Row:
    """One row of the ledger to write; ``job_id`` is drawn for one that gets a job."""

    settlement: Settlement
    firing: Firing

    @property
    def key(self) -> tuple[str, datetime, str]:
        return self.settlement.schedule.name, self.firing.fire_at, self.firing.origin


def settle(schema: str, settlements: Sequence[Settlement], at: datetime) -> Plan[list[Schedule]]:
    """Write what was decided at ``at``; return the schedules as they stand then, with the jobs they got."""
    rows = yield from _grown(schema, settlements)
    jobs = _by_schedule((yield from _recorded(schema, rows, at)))
    after = [_standing(settlement, jobs.get(settlement.schedule.name, ())) for settlement in settlements]
    yield schedule_statements(schema).stand(**standings(after))
    return after


def settle_apart(schema: str, settlements: Sequence[Settlement], at: datetime) -> Plan[list[Schedule]]:
    """Write decisions whose jobs are not counted among the schedules': these stand where they stood."""
    rows = [_Row(settlement, one) for settlement in settlements for one in settlement.decided.firings]
    yield from _recorded(schema, rows, at)
    return [settlement.schedule for settlement in settlements]


def _recorded(schema: str, rows: Sequence[_Row], at: datetime) -> Plan[list[_Row]]:
    """Write rows of the ledger and the jobs they get; return those with a job, but for slots decided before."""
    statements = schedule_statements(schema)
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
            at,
        )
    return fired


def standings(schedules: Iterable[Schedule]) -> dict[str, str]:
    """Return where schedules stand, as arrays by column, and the rules of time zones that say so."""
    rows = [standing(one) for one in schedules]
    return {"tz_version": TZ_VERSION, **{name: values([row[name] for row in rows]) for name in rows[0]}}


def submission(schedule: Schedule, slot: Slot) -> Submission:
    """Return the job of a firing."""
    return Submission(submit(schedule, slot))


def _grown(schema: str, settlements: Iterable[Settlement]) -> Plan[list[_Row]]:
    """Let skips that go on where the ledger ends share its last row; return the rows that are new."""
    growing = {one.schedule.name: one for one in settlements if one.decided.firings and _goes_on(one)}
    if growing:
        yield schedule_statements(schema).grow(
            schedule=texts(growing),
            fire_at=values([one.newest.firing.fire_at for one in growing.values() if one.newest]),
            until=values([one.decided.firings[0].last for one in growing.values()]),
            count=values([one.decided.firings[0].count for one in growing.values()]),
        )
    return [
        _Row(one, firing)
        for one in settlements
        for firing in one.decided.firings[1 if one.schedule.name in growing else 0 :]
    ]


def _goes_on(one: Settlement) -> bool:
    return goes_on(one.schedule, one.newest, one.decided.firings[0])


def _numbered(schema: str, rows: Sequence[_Row]) -> Plan[list[_Row]]:
    """Draw an id for each job to come."""
    number = sum(row.firing.outcome in AT_ONCE for row in rows)
    if not number:
        return list(rows)
    drawn = yield submit_statements(schema).draw_ids(number=number)
    ids: Iterator[int] = (job_id for (job_id,) in drawn)
    return [
        _Row(row.settlement, evolve(row.firing, job_id=next(ids))) if row.firing.outcome in AT_ONCE else row
        for row in rows
    ]


def _submission(row: _Row) -> Submission:
    slot = Slot(row.firing.fire_at, row.firing.origin)
    return submission(row.settlement.schedule, slot)


def _by_schedule(fired: Iterable[_Row]) -> dict[str, list[int]]:
    """Return the jobs of rows by the names of their schedules."""
    jobs: dict[str, list[int]] = {}
    for row in fired:
        if row.firing.job_id is not None:
            jobs.setdefault(row.settlement.schedule.name, []).append(row.firing.job_id)
    return jobs


def _standing(settlement: Settlement, job_ids: Sequence[int]) -> Schedule:
    decided = settlement.decided
    moved = evolve(settlement.schedule, next_fire_at=decided.next_fire_at, waiting=decided.waiting)
    return with_jobs(moved, job_ids)


def _ledger(rows: Sequence[_Row]) -> dict[str, str]:
    of_firings = ("fire_at", "origin", "outcome", "reason", "count", "job_id")
    return {
        **{name: values([getattr(row.firing, name) for row in rows]) for name in of_firings},
        "until": values([row.firing.last for row in rows]),
        "schedule": values([row.settlement.schedule.name for row in rows]),
        "version": values([row.settlement.schedule.version for row in rows]),
    }
