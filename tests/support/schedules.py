"""Schedules over one database whose clock the test moves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from attrs import define, evolve, field

from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.firing_store import PostgresFiringStore
from fencepost.adapters.postgres.job_reader import PostgresJobReader
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.commands import Discard, JobError, Origin, Report, Succeed
from fencepost.domain.firing import Firing
from fencepost.domain.job import Job, Specification
from fencepost.domain.schedule import Definition, Policies, Schedule, Timing
from fencepost.domain.token import Token

from .rig import USER, WORKER
from .stores import Clock

MIDNIGHT = datetime(2030, 1, 1, tzinfo=Clock().now.tzinfo)
MINUTE = timedelta(minutes=1)
NAME = "report"


def definition(cron: str = "*/5 * * * *", **fields: Any) -> Definition:
    """Every five minutes; other fields are the policies', the timing's or the job's."""
    parts: dict[str, dict[str, Any]] = {
        "timing": {"cron": cron, "starts_at": MIDNIGHT},
        "policies": {},
        "job": {},
    }
    for name, value in fields.items():
        if name in ("missed", "catchup_window", "overlap", "pause_on_failure"):
            parts["policies"][name] = value
        elif name in ("tz", "dst", "starts_at", "ends_at", "jitter"):
            parts["timing"][name] = value
        else:
            parts["job"][name] = value
    return Definition(
        timing=Timing(**parts["timing"]),
        policies=Policies(**parts["policies"]),
        template=Specification(**{"type": "work", "payload": '{"a":1}', **parts["job"]}),
    )


@define
class Plane:
    """The scheduling plane: one scheduler's stores, and as many more as a test asks for."""

    dsn: str
    clock: Clock
    database: Database
    schedules: PostgresScheduleStore = field(init=False)
    firings: PostgresFiringStore = field(init=False)
    backfills: PostgresBackfillStore = field(init=False)
    reader: PostgresJobReader = field(init=False)
    jobs: PostgresJobStore = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Bring the ports."""
        self.schedules = PostgresScheduleStore(self.database)
        self.firings = PostgresFiringStore(self.database)
        self.backfills = PostgresBackfillStore(self.database)
        self.reader = PostgresJobReader(self.database)
        self.jobs = PostgresJobStore(self.database, full_scans=1)

    async def create(self, name: str = NAME, **fields: Any) -> Schedule:
        """A new schedule."""
        return (await self.schedules.create(name, definition(**fields), USER)).schedule

    async def fire(self, passed: timedelta = timedelta(0)) -> None:
        """Let time pass, and decide everything that is due."""
        self.clock.advance(passed)
        while (await self.firings.fire(100)).full:
            pass

    async def round(self, passed: timedelta = timedelta(0)) -> None:
        """The same, and insert what waited."""
        await self.fire(passed)
        await self.firings.release(100)

    async def schedule(self, name: str = NAME) -> Schedule:
        """One that is there."""
        found = await self.schedules.get(name)
        assert found is not None
        return found

    async def ledger(self, name: str = NAME) -> list[Firing]:
        """Its ledger, oldest first."""
        return [entry.firing for entry in await self.schedules.firings(name, limit=1_000)][::-1]

    async def told(self, name: str = NAME) -> list[tuple[int, str, str, int]]:
        """Its ledger as minutes after midnight, decision, reason and count."""
        return [
            (round((row.fire_at - MIDNIGHT) / MINUTE), row.outcome.value, row.reason.value, row.count)
            for row in await self.ledger(name)
        ]

    async def all_jobs(self) -> list[Job]:
        """Every job by id."""
        return sorted(await self.reader.page(JobFilter(), limit=1_000), key=lambda job: job.job_id)

    async def claim(self, limit: int = 1) -> list[Token]:
        """Run what is due."""
        await PostgresQueueStore(self.database).register(["default"])
        request = ClaimRequest(
            queue="default",
            types=frozenset({"work"}),
            limit=limit,
            claim_id="00000000-0000-4000-8000-000000000000",
            origin=WORKER,
        )
        return [job.token for job in (await self.jobs.claim(request)).jobs]

    async def end(self, *tokens: Token) -> None:
        """Let jobs succeed."""
        reports: list[Report] = [Succeed(origin=WORKER, token=token) for token in tokens]
        await self.jobs.report(reports)

    async def die(self, token: Token) -> None:
        """Let a job die."""
        await self.jobs.report([Discard(origin=WORKER, token=token, error=JobError("Broken"))])


def asked(request_id: str) -> Origin:
    """Somebody's request."""
    return evolve(USER, request_id=request_id)


@asynccontextmanager
async def plane_over(dsn: str, clock: Clock) -> AsyncIterator[Plane]:
    """The scheduling plane over a database; it is midnight."""
    clock.now = MIDNIGHT
    database = Database(dsn, clock=clock, pool_size=8)
    try:
        yield Plane(dsn, clock, database)
    finally:
        await database.close()
