"""A worker over the memory adapter, its time in the test's hands."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from attrs import evolve

from fencepost.adapters.executors.coroutines import CoroutineExecutor
from fencepost.adapters.executors.threads import ThreadExecutor
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.submitter import MemorySubmitter
from fencepost.adapters.memory.transactions import MemoryTransactions
from fencepost.adapters.memory.wakeups import MemoryWakeups
from fencepost.adapters.system.background import SameLoop
from fencepost.application.context import Context
from fencepost.application.handlers import ExecutorName, Handler, Handlers
from fencepost.application.ports.background import Background
from fencepost.application.ports.local_time import LocalTime
from fencepost.application.ports.submitter import Submission
from fencepost.application.worker.runtime import Worker, WorkerPorts
from fencepost.application.worker.settings import WorkerSettings
from fencepost.domain.commands import Cancel, Origin, Submit
from fencepost.domain.event import JobEvent
from fencepost.domain.job import Job, Specification
from fencepost.domain.vocabulary import State

from .faults import FaultyStore
from .local_time import MovedTime, settle

USER = Origin("user:test")


class Workshop:
    """Register handlers, submit jobs, start the worker, move time, look at jobs and events."""

    def __init__(self, time: LocalTime | None = None, background: Background | None = None) -> None:
        """Build everything but the worker; real time and a real background thread are optional."""
        self.moved = MovedTime()
        self.time: LocalTime = time or self.moved
        self.database = MemoryDatabase(self.time.wall)
        self.store = FaultyStore(MemoryJobStore(self.database), self.time)
        self.queues = MemoryQueueStore(self.database)
        self.wakeups = MemoryWakeups(self.database)
        self.handlers = Handlers()
        self.background = background or SameLoop()
        self.threads = ThreadExecutor()
        self.settings = WorkerSettings(worker="worker:test", queues={"default": 5})
        self.started: list[int] = []
        self._submitter = MemorySubmitter(self.database)
        self._claims = (f"claim-{number}" for number in count(1))
        self._running: asyncio.Future[None] | None = None
        self._worker: Worker | None = None

    @property
    def worker(self) -> Worker:
        """The worker, built when first asked for."""
        if self._worker is None:
            ports = WorkerPorts(
                claims=self.store,
                reports=self.store,
                heartbeats=self.store,
                queues=self.queues,
                wakeups=self.wakeups,
                transactions=MemoryTransactions(self.database),
                executors={"async": CoroutineExecutor(), "thread": self.threads},
                background=self.background,
                time=self.time,
                draw=lambda: 0.5,
                new_claim_id=lambda: next(self._claims),
            )
            self._worker = Worker(self.settings, self.handlers, ports)
        return self._worker

    def set(self, **changes: Any) -> None:
        """Change the worker's settings before it starts."""
        self.settings = evolve(self.settings, **changes)

    def handle(
        self,
        call: Callable[..., Any],
        *,
        type: str = "work",
        executor: ExecutorName = "async",
        bind: Callable[[Any], Any] = dict,
    ) -> None:
        """Register a handler; coroutine functions also note that they were started."""

        async def noted(ctx: Context, **arguments: Any) -> Any:
            self.started.append(ctx.job_id)
            return await call(ctx, **arguments)

        chosen = noted if executor == "async" else call
        self.handlers.add(Handler(type=type, queue="default", call=chosen, executor=executor, bind=bind))

    async def submit(self, *, times: int = 1, **specification: Any) -> int:
        """Submit jobs, of type ``work`` unless told otherwise, and return the first one's id."""
        delay = specification.pop("delay", None)
        command = Submit(
            origin=USER, specification=Specification(**{"type": "work", **specification}), delay=delay
        )
        return (await self._submitter.submit([Submission(command)] * times))[0].job_id

    async def start(self) -> None:
        """Start the worker and let it do what it can at once."""
        self._running = asyncio.ensure_future(self.worker.run())
        await settle()

    async def advance(self, seconds: float) -> None:
        """Move the worker's and the database's time."""
        await self.moved.advance(seconds)

    async def cancel(self, job_id: int) -> None:
        """Cancel a job, as a user does."""
        await MemoryJobStore(self.database).operate([job_id], Cancel(origin=USER))

    async def finish(self) -> None:
        """Stop the worker and wait for its end."""
        if self._running is None:
            return
        self.worker.stop()
        await settle()
        if not self._running.done() and isinstance(self.time, MovedTime):
            await self.moved.advance(120)
        await self._running

    def over(self) -> bool:
        """Whether the worker has ended."""
        return self._running is not None and self._running.done()

    def abandon(self) -> None:
        """Take the worker away at the end of a test that left it running."""
        if self._running is not None and not self._running.done():
            self._running.cancel()

    def job(self, job_id: int) -> Job:
        """The job's row."""
        return self.database.jobs[job_id]

    def state(self, job_id: int) -> State:
        """The job's state."""
        return self.job(job_id).state

    def events(self, job_id: int) -> list[str]:
        """The names of the job's events."""
        return [event.name for event in self.database.job_events[job_id]]

    def last(self, job_id: int) -> JobEvent:
        """The job's last event."""
        return self.database.job_events[job_id][-1]

    def error(self, job_id: int) -> dict[str, Any]:
        """The error in the job's last event."""
        error: dict[str, Any] = self.last(job_id).data["error"]
        return error


async def until(observe: Callable[[], object], within: float = 10.0) -> None:
    """Wait in real time until something is so."""

    async def poll() -> None:
        while not observe():  # noqa: ASYNC110  whatever can be observed, not an event
            await asyncio.sleep(0.005)

    await asyncio.wait_for(poll(), within)


async def forever(_ctx: Context) -> None:
    """Run until cancelled."""
    await asyncio.Event().wait()


def gate() -> tuple[asyncio.Event, Callable[[Context], Awaitable[str]]]:
    """Return an event and a handler that waits for it and then returns ``done``."""
    event = asyncio.Event()

    async def wait(_ctx: Context) -> str:
        await event.wait()
        return "done"

    return event, wait
