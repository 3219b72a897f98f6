"""Two changes of one schedule at the same time, one of them halted before each of its statements in turn.

Whatever comes of it must be what memory says of one after the other: of either order, as a lock decides.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any, TypeVar

import psycopg
from attrs import define, field, frozen
from sqlalchemy import text

from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.firing_store import PostgresFiringStore
from fencepost.adapters.postgres.query import Plan, Query, Rows, Statement
from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
from fencepost.application.ports.event_log import LogFilter
from fencepost.application.ports.job_reader import JobFilter
from fencepost.domain.errors import FencepostError

from .rig import USER
from .stores import MANY, Clock, Stores, memory_stores, postgres_stores

T = TypeVar("T")
GATE = 4_711
_WAIT = Statement(text(f"SELECT pg_advisory_xact_lock_shared({GATE})"), writes=False)
_HALTED = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'
"""
_BLOCKED = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event <> 'advisory'
"""


@frozen
class Planes:
    """PostgreSQL's stores by themselves, whose plans can be halted."""

    schedules: PostgresScheduleStore
    firings: PostgresFiringStore
    backfills: PostgresBackfillStore


@frozen
class Act:
    """Something done to the schedule of a name: as a call of either technology, and as PostgreSQL's plan."""

    call: Callable[[Stores, str], Awaitable[object]]
    plan: Callable[[Planes, str], Plan[Any]] | None = None


@define
class Race:
    """Sets the scene in a schedule of its own each time, an hour after the last."""

    dsn: str
    clock: Clock
    scene: Callable[[Stores, Clock, str], Awaitable[None]]
    first: Act
    second: Act
    hours: "count[int]" = field(factory=lambda: count(1))
    outcomes: "Counter[str]" = field(factory=Counter)

    async def run(self) -> int:
        """Halt the first act before each of its statements, the commit included; return how often that was."""
        async with (
            postgres_stores(self.dsn, self.clock) as stores,
            await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as gate,
        ):
            database = Database(self.dsn, clock=self.clock, pool_size=1)
            try:
                for place in count():
                    if not await self._halted_at(place, stores, database, gate):
                        return place
            finally:
                await database.close()
        raise AssertionError

    async def _halted_at(
        self, place: int, stores: Stores, database: Database, gate: psycopg.AsyncConnection[Any]
    ) -> bool:
        start = self.clock.now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        name = f"race-{next(self.hours)}"
        expected = [await self._in_memory(start, name, *order) for order in self._orders()]
        self.clock.now = start
        await self.scene(stores, self.clock, name)
        halted = await self._meet(place, name, stores, database, gate)
        await settle(stores)
        seen = await picture(stores, name)
        assert seen in expected, (
            f"halted before statement {place}:\n{seen}\none after the other:\n{expected[0]}\nor\n{expected[1]}"
        )
        self.outcomes["first, second" if seen == expected[0] else "second, first"] += 1
        await quietly(stores.schedules.delete(name, USER))
        return halted

    def _orders(self) -> tuple[tuple[Act, Act], tuple[Act, Act]]:
        return (self.first, self.second), (self.second, self.first)

    async def _in_memory(self, start: Any, name: str, *order: Act) -> list[Any]:
        self.clock.now = start
        stores = memory_stores(self.clock)
        await self.scene(stores, self.clock, name)
        for act in order:
            await quietly(act.call(stores, name))
        await settle(stores)
        return await picture(stores, name)

    async def _meet(
        self, place: int, name: str, stores: Stores, database: Database, gate: psycopg.AsyncConnection[Any]
    ) -> bool:
        """Run the first act up to a place, the second until it is through or blocked, then both to their ends."""
        planes = Planes(
            PostgresScheduleStore(database), PostgresFiringStore(database), PostgresBackfillStore(database)
        )
        plan = self.first.plan
        assert plan is not None
        await gate.execute("SELECT pg_advisory_lock(%s)", [GATE])
        first = _started(database.run(lambda: halting(plan(planes, name), place)))
        halted = await _until(gate, first, _HALTED)
        second = _started(self.second.call(stores, name))
        await _until(gate, second, _BLOCKED)
        await gate.execute("SELECT pg_advisory_unlock(%s)", [GATE])
        await quietly(first)
        await quietly(second)
        return halted


def halting(plan: Plan[T], place: int) -> Plan[T]:
    """Run a plan, but wait at the gate before the statement of this number, or before the commit."""
    rows: Rows | None = None
    for number in count():
        try:
            query = next(plan) if rows is None else plan.send(rows)
        except StopIteration as end:
            if number == place:
                yield Query(_WAIT)
            answer: T = end.value
            return answer
        if number == place:
            yield Query(_WAIT)
        rows = yield query
    raise AssertionError


async def settle(stores: Stores) -> None:
    """Decide and insert whatever can be."""
    for _ in range(2):
        while (await stores.firings.fire(100)).full:
            pass
        await stores.firings.release(100)
        while (await stores.backfills.advance(100)).full:
            pass


async def picture(stores: Stores, name: str) -> list[Any]:
    """What there is of a schedule, whatever ids its jobs have."""
    page = await stores.reader.page(JobFilter(), limit=MANY)
    jobs = {job.job_id: job for job in page if (job.effect_key or "").startswith(f"schedule:{name}:")}
    keys: dict[int | None, str | None] = {None: None}
    keys |= {job_id: job.effect_key for job_id, job in jobs.items()}
    schedule = await stores.schedule_reader.get(name)
    standing = schedule and (
        schedule.version,
        schedule.definition,
        schedule.next_fire_at,
        schedule.paused_at,
        schedule.waiting,
        [keys[job] for job in schedule.open_jobs],
        keys[schedule.last_job],
    )
    ledger = [entry.firing for entry in await stores.schedule_reader.firings(name, limit=MANY)]
    rows = [(row.fire_at, row.origin, row.outcome, row.reason, row.count, keys[row.job_id]) for row in ledger]
    states = sorted((job.effect_key, job.state, job.cancel_requested) for job in jobs.values())
    events = await stores.log.page(LogFilter(subject=f"schedule:{name}"), limit=MANY)
    return [standing, rows, states, sorted(event.name for event in events)]


async def quietly(call: Awaitable[object]) -> None:
    """Wait for an answer; an error that callers may expect is one."""
    with suppress(FencepostError):
        await call


def _started(call: Awaitable[object]) -> "asyncio.Task[object]":
    async def run() -> object:
        return await call

    running: Coroutine[Any, Any, object] = run()
    return asyncio.create_task(running)


async def _until(gate: psycopg.AsyncConnection[Any], task: "asyncio.Task[object]", question: str) -> bool:
    """Wait until a task is through, or the database says that it waits."""
    for _ in range(2_000):
        if task.done():
            return False
        [[waiting]] = await (await gate.execute(question.encode())).fetchall()
        if waiting:
            return True
        await asyncio.sleep(0.005)
    raise AssertionError("neither through nor waiting")
