"""The scheduling plane in memory and in PostgreSQL, in lockstep: after every step they agree on all that is there."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid5

from attrs import define, field

from fencepost.application.ports.job_reader import JobFilter
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.backfill import Backfill, Wanted
from fencepost.domain.commands import Cancel, ConfirmCancel, Discard, JobError, Report, Requeue, Succeed
from fencepost.domain.declaring import Action
from fencepost.domain.event import ControlEvent
from fencepost.domain.firing import Firing
from fencepost.domain.job import Job
from fencepost.domain.schedule import Definition, Overlap, Schedule
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict

from .rig import USER, WORKER
from .schedules import MIDNIGHT, MINUTE, NAME, asked, definition
from .stores import MANY, Clock, Lockstep, Stores

T = TypeVar("T")
NOTHING = timedelta(0)
_CLAIMS = UUID(int=11)


def minutes(moment: datetime) -> int:
    """A moment in minutes after midnight."""
    return round((moment - MIDNIGHT) / MINUTE)


@define
class TimePlane:
    """Both planes; it is midnight, and the test moves the clock."""

    lockstep: Lockstep
    names: set[str] = field(factory=set)
    """Every schedule there ever was: the ledger outlives it."""
    claims: int = 0

    @property
    def clock(self) -> Clock:
        """The clock that both read."""
        return self.lockstep.clock

    async def step(self, call: Callable[[Stores], Awaitable[T]]) -> T:
        """Make one call to each, and compare everything afterwards."""
        answer = await self.lockstep.both(call)
        await self.agree()
        return answer

    async def agree(self) -> None:
        """Compare jobs, events, schedules, ledgers and backfills."""
        await self.lockstep.compare()
        await self.lockstep.both(lambda one: one.schedule_reader.list(limit=MANY))
        for name in sorted(self.names):
            await self._ledger(name)
            await self.backfills(name)

    async def create(self, name: str = NAME, **fields: Any) -> Schedule:
        """A new schedule."""
        return await self.define(definition(**fields), name)

    async def define(self, wanted: Definition, name: str = NAME) -> Schedule:
        """A new schedule, defined beforehand."""
        self.names.add(name)
        return (await self.step(lambda one: one.schedules.create(name, wanted, USER))).schedule

    async def edit(self, cron: str, name: str = NAME, version: int | None = None, **fields: Any) -> Schedule:
        """Define it otherwise."""
        wanted = definition(cron, **fields)
        return await self.step(lambda one: one.schedules.edit(name, wanted, USER, version=version))

    async def declare(
        self, wanted: Definition, app: str = "jobs:app", name: str = NAME, *, force: bool = False
    ) -> Action:
        """Let code say what it is."""
        self.names.add(name)
        answer = await self.step(lambda one: one.schedules.declare(name, wanted, USER, app=app, force=force))
        return answer.action

    async def declared(self, app: str, *names: str) -> list[str]:
        """The names of an app's schedules and of these, as far as they are there."""
        found = await self.lockstep.both(lambda one: one.schedule_reader.declared(app, names))
        return [one.name for one in found]

    async def pause(self, name: str = NAME) -> Verdict:
        """Stop it."""
        return await self.step(lambda one: one.schedules.pause(name, USER))

    async def resume(self, name: str = NAME) -> Verdict:
        """Let it go on."""
        return await self.step(lambda one: one.schedules.resume(name, USER))

    async def delete(self, name: str = NAME, version: int | None = None) -> None:
        """Remove it."""
        await self.step(lambda one: one.schedules.delete(name, USER, version=version))

    async def trigger(self, request_id: str, overlap: Overlap = Overlap.ALLOW, name: str = NAME) -> Firing:
        """Fire now."""
        triggered = await self.step(lambda one: one.firings.trigger(name, overlap, asked(request_id)))
        return triggered.firing

    async def backfill(
        self, minutes: int, request_id: str = "one", name: str = NAME, **fields: Any
    ) -> Backfill:
        """Ask for the last minutes."""
        now = self.clock()
        wanted = Wanted(**{"from_at": now - minutes * MINUTE, "to_at": now, **fields})
        requested = await self.step(lambda one: one.backfills.request(name, wanted, asked(request_id)))
        return requested.backfill

    async def advance(self, limit: int = 100) -> int:
        """Carry backfills out as far as they go now; return how many batches that took."""
        batches = 0
        while (await self.step(lambda one: one.backfills.advance(limit))).full:
            batches += 1
        return batches

    async def stop_backfill(self, backfill_id: str) -> Verdict:
        """Let it decide nothing further."""
        return await self.step(lambda one: one.backfills.stop(backfill_id, USER))

    async def backfills(self, name: str = NAME) -> Sequence[Backfill]:
        """Those of a schedule, newest first."""
        return await self.lockstep.both(lambda one: one.backfills.list(name))

    async def fire(self, passed: timedelta = NOTHING, limit: int = 100) -> int:
        """Let time pass and decide everything that is due; return how many rounds that took."""
        self.clock.advance(passed)
        rounds = 1
        while (await self.step(lambda one: one.firings.fire(limit))).full:
            rounds += 1
        return rounds

    async def fire_until(self, moment: datetime) -> None:
        """The same when the clock says so."""
        await self.fire(moment - self.clock())

    async def release(self) -> int:
        """Insert what waited; return how many schedules were looked at."""
        return (await self.step(lambda one: one.firings.release(100))).schedules

    async def round(self, passed: timedelta = NOTHING) -> None:
        """What the firing loop does once."""
        await self.fire(passed)
        await self.release()

    async def schedule(self, name: str = NAME) -> Schedule:
        """One that is there."""
        found = await self.lockstep.both(lambda one: one.schedule_reader.get(name))
        assert found is not None
        return found

    async def ledger(self, name: str = NAME) -> list[Firing]:
        """Its ledger, oldest first."""
        return [*await self._ledger(name)][::-1]

    async def told(self, name: str = NAME) -> list[tuple[int, str, str, int]]:
        """Its ledger as minutes after midnight, decision, reason and count."""
        return [
            (minutes(row.fire_at), row.outcome.value, row.reason.value, row.count)
            for row in await self.ledger(name)
        ]

    async def all_jobs(self) -> list[Job]:
        """Every job by id."""
        page = await self.lockstep.both(lambda one: one.reader.page(JobFilter(), limit=MANY))
        return sorted(page, key=lambda job: job.job_id)

    async def served(self) -> list[int]:
        """The fire times that jobs serve, in minutes after midnight, by job_id."""
        slots = [job.scheduled_for for job in await self.all_jobs()]
        return [minutes(slot) for slot in slots if slot is not None]

    async def states(self) -> list[State]:
        """The states of all jobs by id."""
        return [job.state for job in await self.all_jobs()]

    async def claim(self, limit: int = 1) -> list[Token]:
        """Run what is due."""
        await self.lockstep.both(lambda one: one.queues.register(["default"]))
        self.claims += 1
        request = ClaimRequest(
            queue="default",
            types=frozenset({"work"}),
            limit=limit,
            claim_id=str(uuid5(_CLAIMS, str(self.claims))),
            origin=WORKER,
        )
        return [job.token for job in (await self.step(lambda one: one.jobs.claim(request))).jobs]

    async def end(self, *tokens: Token) -> None:
        """Let jobs succeed."""
        await self.report(*(Succeed(origin=WORKER, token=token) for token in tokens))

    async def die(self, token: Token) -> None:
        """Let a job die."""
        await self.report(Discard(origin=WORKER, token=token, error=JobError("Broken")))

    async def stop(self, token: Token) -> None:
        """Let a job stop as it was asked to."""
        await self.report(ConfirmCancel(origin=WORKER, token=token))

    async def report(self, *reports: Report) -> None:
        """Reports that are accepted."""
        if not reports:
            return
        verdicts = await self.step(lambda one: one.jobs.report(reports))
        assert set(verdicts) <= {Verdict.ACCEPTED}

    async def cancel(self, *job_ids: int) -> None:
        """An operator cancels jobs."""
        await self.step(lambda one: one.jobs.operate(job_ids, Cancel(origin=USER)))

    async def requeue(self, job_id: int) -> None:
        """An operator puts a finished job back."""
        await self.step(lambda one: one.jobs.operate([job_id], Requeue(origin=USER, fresh_effect_key=False)))

    async def finish(self) -> None:
        """Run whatever is due to its end."""
        await self.end(*await self.claim(limit=1_000))

    @asynccontextmanager
    async def held_by_another(self, job_id: int) -> AsyncIterator[None]:
        """Somebody else holds a job's row lock."""
        async with (
            self.lockstep.memory.held_by_another(job_id),
            self.lockstep.postgres.held_by_another(job_id),
        ):
            yield

    async def controls(self) -> list[ControlEvent]:
        """What the log says beside jobs, as memory tells it: agreement has been checked."""
        return [event async for event in self.lockstep.memory.log.control_stream()]

    async def _ledger(self, name: str) -> Sequence[Firing]:
        page = await self.lockstep.both(lambda one: one.schedule_reader.firings(name, limit=MANY))
        return [entry.firing for entry in page]
