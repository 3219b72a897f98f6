"""Schedules lived in memory, and what a checker is told of them: honest, until a test plants something."""

from collections.abc import Coroutine, Iterator
from datetime import datetime, timedelta
from typing import Any, TypeVar

from attrs import Factory, define, evolve, field

from fencepost.adapters.memory.backfill_store import MemoryBackfillStore
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.event_log import MemoryEventLog
from fencepost.adapters.memory.firing_store import MemoryFiringStore
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.schedule_store import MemoryScheduleStore
from fencepost.application.ports.event_log import EventLog
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.backfill import Wanted
from fencepost.domain.commands import Discard, JobError, Report, Succeed
from fencepost.domain.event import ControlEvent, JobEvent
from fencepost.domain.invariants import Report as Judgement
from fencepost.domain.invariants import check
from fencepost.domain.job import Job
from fencepost.domain.ledger_rows import LedgerRow, ScheduleRow, schedule_of
from fencepost.domain.schedule import Overlap
from fencepost.domain.token import Token

from .rig import USER, WORKER
from .schedules import MIDNIGHT, MINUTE, NAME, asked, definition
from .stores import Clock

T = TypeVar("T")
NOTHING = timedelta(0)


def at_once(call: Coroutine[Any, Any, T]) -> T:
    """The answer of a call to a memory adapter, which never waits."""
    try:
        call.send(None)
    except StopIteration as end:
        answer: T = end.value
        return answer
    raise AssertionError("it waits")


@define
class TimeStory:
    """A scheduling plane whose clock the story moves; it begins at midnight."""

    clock: Clock = Factory(lambda: Clock(MIDNIGHT))
    claims: int = 0
    database: MemoryDatabase = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start empty."""
        self.database = MemoryDatabase(self.clock)

    @property
    def schedules(self) -> MemoryScheduleStore:
        """What people use."""
        return MemoryScheduleStore(self.database)

    def create(self, name: str = NAME, **fields: Any) -> "TimeStory":
        """A new schedule, every five minutes unless told otherwise."""
        at_once(self.schedules.create(name, definition(**fields), USER))
        return self

    def edit(self, cron: str, name: str = NAME, **fields: Any) -> "TimeStory":
        """Define it otherwise."""
        at_once(self.schedules.edit(name, definition(cron, **fields), USER))
        return self

    def pause(self, name: str = NAME) -> "TimeStory":
        """Stop it."""
        at_once(self.schedules.pause(name, USER))
        return self

    def resume(self, name: str = NAME) -> "TimeStory":
        """Let it go on."""
        at_once(self.schedules.resume(name, USER))
        return self

    def delete(self, name: str = NAME) -> "TimeStory":
        """Remove it."""
        at_once(self.schedules.delete(name, USER))
        return self

    def trigger(self, request: str, overlap: Overlap = Overlap.ALLOW, name: str = NAME) -> "TimeStory":
        """Fire now."""
        at_once(MemoryFiringStore(self.database).trigger(name, overlap, asked(request)))
        return self

    def backfill(
        self, request: str, first: float, last: float, name: str = NAME, **fields: Any
    ) -> "TimeStory":
        """Ask for the fire times from one minute after midnight to another."""
        wanted = Wanted(from_at=MIDNIGHT + first * MINUTE, to_at=MIDNIGHT + last * MINUTE, **fields)
        at_once(MemoryBackfillStore(self.database).request(name, wanted, asked(request)))
        return self

    def carry_out(self, jobs: int = 100) -> "TimeStory":
        """Carry backfills out as far as they go."""
        while at_once(MemoryBackfillStore(self.database).advance(jobs)).full:
            pass
        return self

    def after(self, minutes: float) -> "TimeStory":
        """Let time pass."""
        self.clock.advance(minutes * MINUTE)
        return self

    def round(self, minutes: float = 0) -> "TimeStory":
        """Let time pass, decide everything that is due, and insert what waited."""
        self.after(minutes)
        firings = MemoryFiringStore(self.database)
        while at_once(firings.fire(100)).full:
            pass
        at_once(firings.release(100))
        return self

    def finish(self, *, dead: bool = False) -> "TimeStory":
        """Run whatever is due to its end."""
        tokens = self.claim()
        ends: list[Report] = [
            Discard(origin=WORKER, token=token, error=JobError("Broken"))
            if dead
            else Succeed(origin=WORKER, token=token)
            for token in tokens
        ]
        at_once(MemoryJobStore(self.database).report(ends))
        return self

    def claim(self) -> list[Token]:
        """Start whatever is due."""
        at_once(MemoryQueueStore(self.database).register(["default"]))
        self.claims += 1
        request = ClaimRequest(
            queue="default",
            types=frozenset({"work"}),
            limit=1_000,
            claim_id=f"claim-{self.claims}",
            origin=WORKER,
        )
        return [job.token for job in at_once(MemoryJobStore(self.database).claim(request)).jobs]

    def told(self) -> "Told":
        """What a checker is told."""
        log = MemoryEventLog(self.database)
        return at_once(read(log))


@define
class Told:
    """A history, table by table, so that a test can plant something in one of them."""

    clock: datetime
    events: dict[int, list[JobEvent]] = Factory(dict)
    jobs: dict[int, Job] = Factory(dict)
    controls: list[ControlEvent] = Factory(list)
    rows: dict[str, ScheduleRow] = Factory(dict)
    ledger: list[LedgerRow] = Factory(list)

    def change(self, index: int, **fields: Any) -> None:
        """Change a row of the ledger."""
        self.ledger[index] = evolve(self.ledger[index], **fields)

    def change_row(self, **fields: Any) -> None:
        """Change the schedule's row."""
        self.rows[NAME] = evolve(self.rows[NAME], **fields)

    def change_event(self, index: int, **data: Any) -> None:
        """Change what a control event tells."""
        event = self.controls[index]
        self.controls[index] = evolve(event, data={**event.data, **data})

    def judged(self) -> Judgement:
        """The checker's report."""
        return check(self._by_job(), self.controls, self.clock, self._by_schedule())

    def _by_job(self) -> Iterator[JobEvent | LedgerRow | Job]:
        named: dict[int, list[LedgerRow]] = {}
        for row in self.ledger:
            if row.job_id is not None:
                named.setdefault(row.job_id, []).append(row)
        for job_id in sorted(self.events.keys() | self.jobs.keys() | named.keys()):
            yield from self.events.get(job_id, ())
            yield from named.get(job_id, ())
            if job_id in self.jobs:
                yield self.jobs[job_id]

    def _by_schedule(self) -> Iterator[ControlEvent | ScheduleRow | LedgerRow]:
        of_schedules = [event for event in self.controls if event.subject.startswith("schedule:")]
        everything: list[ControlEvent | ScheduleRow | LedgerRow] = [
            *of_schedules,
            *self.rows.values(),
            *sorted(self.ledger, key=lambda row: (row.fire_at, row.origin)),
        ]
        for name in sorted({schedule_of(item) for item in everything}):
            yield from (item for item in everything if schedule_of(item) == name)


async def read(log: EventLog) -> Told:
    """Read a whole log."""
    told = Told(await log.clock())
    async for item in log.stream():
        if isinstance(item, JobEvent):
            told.events.setdefault(item.job_id, []).append(item)
        elif isinstance(item, Job):
            told.jobs[item.job_id] = item
    told.controls = [event async for event in log.control_stream()]
    async for planned in log.schedule_stream():
        if isinstance(planned, LedgerRow):
            told.ledger.append(planned)
        elif isinstance(planned, ScheduleRow):
            told.rows[planned.name] = planned
    return told
