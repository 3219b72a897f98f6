"""Schedules of real processes: made, stopped, and judged by fire times that are counted apart from the product."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from attrs import define, frozen

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
from fencepost.domain.schedule import Definition

from .cron_oracle import fires
from .rig import USER

_UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}
_MOMENT = timedelta(microseconds=1)
_SCHEDULES = """
SELECT name, definition ->> 'cron', definition ->> 'tz', CAST(definition ->> 'starts_at' AS timestamptz),
    created_at, coalesce(next_fire_at, paused_at + interval '1 us')
FROM fencepost.schedules ORDER BY name
"""
_LEDGER = """
SELECT schedule, fire_at, until, count, outcome, job_id FROM fencepost.firings
WHERE origin = 'cron' ORDER BY schedule, fire_at
"""
_JOBS = """
SELECT e.job_id, substr(e.actor, 10), j.scheduled_for
FROM fencepost.job_events AS e JOIN fencepost.jobs AS j USING (job_id)
WHERE e.name = 'enqueued' AND starts_with(e.actor, 'schedule:')
"""
# Positions are taken after what was read and before the commit: a job that began before another ended has a lower one.
_TOGETHER = """
WITH lives AS (
    SELECT e.job_id, e.actor, e.position AS began, (
        SELECT min(position) FROM fencepost.job_events AS t
        WHERE t.job_id = e.job_id AND t.state IN ('succeeded', 'dead', 'cancelled')
    ) AS ended FROM fencepost.job_events AS e WHERE e.name = 'enqueued'
)
SELECT a.actor, a.job_id, b.job_id FROM lives AS a JOIN lives AS b ON a.actor = b.actor AND a.began < b.began
WHERE a.ended IS NULL OR b.began < a.ended
"""


@frozen
class Decision:
    """A row of the ledger."""

    schedule: str
    fire_at: datetime
    until: datetime
    count: int
    outcome: str
    job_id: int | None


@frozen
class Planned:
    """A schedule that nobody changed since its creation: it has decided what is before ``undecided``."""

    name: str
    cron: str
    tz: str
    starts_at: datetime
    created_at: datetime
    undecided: datetime

    def fire_times(self) -> list[datetime]:
        """What must be decided, counted second by second or minute by minute."""
        after = max(self.created_at, self.starts_at - _MOMENT)
        if self.cron.startswith("every "):
            return self._counted(after)
        most = int((self.undecided - after) / _UNITS["m"]) + 2
        found = fires(self.cron, ZoneInfo(self.tz), after, most, limit_days=3)
        return list(takewhile(lambda at: at < self.undecided, found))

    def _counted(self, after: datetime) -> list[datetime]:
        written = self.cron.removeprefix("every ")
        length, at, found = int(written[:-1]) * _UNITS[written[-1]], self.starts_at, []
        while at < self.undecided:
            if at > after:
                found.append(at)
            at += length
        return found


@define
class Judgement:
    """What is wrong, in words; and of how much."""

    problems: list[str]
    fire_times: int
    jobs: int


def plan(dsn: str, definitions: Mapping[str, Definition]) -> None:
    """Create schedules."""

    async def create(store: PostgresScheduleStore) -> None:
        for name, definition in definitions.items():
            await store.create(name, definition, USER)

    _with_store(dsn, create)


def pause(dsn: str, names: Sequence[str]) -> None:
    """Pause schedules."""

    async def each(store: PostgresScheduleStore) -> None:
        for name in names:
            await store.pause(name, USER)

    _with_store(dsn, each)


def edit(dsn: str, name: str, definition: Definition) -> None:
    """Change a schedule."""

    async def one(store: PostgresScheduleStore) -> None:
        await store.edit(name, definition, USER)

    _with_store(dsn, one)


def judged(dsn: str, leaving_out: Collection[str] = ()) -> Judgement:
    """Compare the ledger and the jobs of every schedule with its fire times, but for those that somebody edited."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        schedules = [Planned(*row) for row in connection.execute(_SCHEDULES)]
        decisions = [Decision(*row) for row in connection.execute(_LEDGER)]
        jobs = {(name, job_id): at for job_id, name, at in connection.execute(_JOBS)}
    problems, number = _mismatched(decisions, jobs), 0
    for one in schedules:
        if one.name in leaving_out:
            continue
        fire_times = one.fire_times()
        number += len(fire_times)
        problems += _misjudged(one, fire_times, [row for row in decisions if row.schedule == one.name])
    return Judgement(problems, number, len(jobs))


def together(dsn: str) -> list[tuple[Any, ...]]:
    """Pairs of jobs of one schedule that were unfinished at the same time."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(_TOGETHER.encode()).fetchall()


def _misjudged(one: Planned, fire_times: Sequence[datetime], rows: Sequence[Decision]) -> list[str]:
    decided: Counter[datetime] = Counter()
    problems = []
    for row in rows:
        about = [at for at in fire_times if row.fire_at <= at <= row.until]
        decided.update(about)
        if len(about) != row.count or row.fire_at not in about:
            problems.append(f"{one.name}: {row.count} fire times from {row.fire_at} on, and not {len(about)}")
    missing = [at for at in fire_times if not decided[at]]
    doubled = [at for at, times in decided.items() if times > 1]
    problems += [f"{one.name}: no decision about {at}" for at in missing]
    return problems + [f"{one.name}: {decided[at]} decisions about {at}" for at in doubled]


def _mismatched(rows: Sequence[Decision], jobs: Mapping[tuple[str, int], datetime]) -> list[str]:
    """Compare what fired with the jobs that schedules have made."""
    fired = {(row.schedule, row.job_id): row.fire_at for row in rows if row.job_id is not None}
    problems = [
        f"{row.schedule}: fired without a job" for row in rows if (row.outcome, row.job_id) == ("fired", None)
    ]
    problems += [
        f"{name}: no job {job_id}, of {fired[name, job_id]}" for name, job_id in fired.keys() - jobs.keys()
    ]
    problems += [f"{name}: job {job_id} is in no decision" for name, job_id in jobs.keys() - fired.keys()]
    problems += [
        f"{key}: of another fire time" for key in fired.keys() & jobs.keys() if fired[key] != jobs[key]
    ]
    if len(fired) != sum(row.job_id is not None for row in rows):
        problems.append("a job is in two decisions")
    return problems


def _with_store(dsn: str, work: Callable[[PostgresScheduleStore], Awaitable[None]]) -> None:
    async def run() -> None:
        database = Database(dsn, pool_size=1)
        try:
            await work(PostgresScheduleStore(database))
        finally:
            await database.close()

    asyncio.run(run())
