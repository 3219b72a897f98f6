"""The HTTP API for tests: over memory or PostgreSQL, in process or behind a real server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from attrs import define, field
from dependency_injector import providers

from fencepost.adapters.memory.backfill_store import MemoryBackfillStore
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.event_log import MemoryEventLog
from fencepost.adapters.memory.firing_store import MemoryFiringStore
from fencepost.adapters.memory.job_reader import MemoryJobReader
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.schedule_store import MemoryScheduleStore
from fencepost.adapters.memory.submitter import MemorySubmitter
from fencepost.application.handlers import Handlers
from fencepost.entrypoints.api.app import create_app
from fencepost.entrypoints.api.server import serve
from fencepost.entrypoints.container import Container
from fencepost.entrypoints.settings import Settings
from fencepost.entrypoints.stopping import StopRequests

START = datetime(2030, 1, 1, tzinfo=UTC)


@define
class Clock:
    """A clock that stands still unless moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def advance(self, **by: float) -> None:
        """Move forward, by arguments of a timedelta."""
        self.now += timedelta(**by)


@define
class Memory:
    """A container whose ports lie in memory."""

    clock: Clock = field(factory=Clock)
    database: MemoryDatabase = field(init=False)
    container: Container = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put the memory adapters where PostgreSQL's would be."""
        self.database = MemoryDatabase(self.clock)
        self.container = postgres_container("postgresql://nowhere.invalid/")
        for port, adapter in {
            "submitter": MemorySubmitter,
            "job_store": MemoryJobStore,
            "job_reader": MemoryJobReader,
            "event_log": MemoryEventLog,
            "queue_store": MemoryQueueStore,
            "schedule_store": MemoryScheduleStore,
            "firing_store": MemoryFiringStore,
            "backfill_store": MemoryBackfillStore,
        }.items():
            replace(self.container, port, adapter(self.database))
        self.container.pending_migrations.override(providers.Callable(list))


def replace(container: Container, port: str, adapter: object) -> None:
    """Let this object stand behind a port."""
    getattr(container, port).override(providers.Object(adapter))
    for service in ("submitting", "operating", "scheduling", "backfilling"):
        getattr(container, service).reset()


def postgres_container(dsn: str, **settings: Any) -> Container:
    """A container over a database, untouched by the environment."""
    return Container(settings=Settings(**settings), dsn=dsn, handlers=Handlers())


def in_process(container: Container, **options: Any) -> httpx2.AsyncClient:
    """A client that calls the application without a socket."""
    transport = httpx2.ASGITransport(create_app(container, owned=False), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", **options)


@define
class Served:
    """A running server."""

    url: str
    requests: StopRequests
    task: asyncio.Task[None]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rsplit(":", 1)[1])

    def client(self, **options: Any) -> httpx2.AsyncClient:
        """A client that knows the address."""
        return httpx2.AsyncClient(base_url=self.url, **options)

    async def ask(self, request: bytes, *, end: bool = False) -> bytes:
        """Send bytes as they are and return all that comes back until the connection is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            await writer.drain()
            if end:
                writer.write_eof()
            async with asyncio.timeout(10):
                return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def served(container: Container, *, owned: bool = False) -> AsyncIterator[Served]:
    """Serve on a free port until the block is left."""
    requests, url = StopRequests(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(container, "127.0.0.1", 0, requests, started=url.set_result, owned=owned)
    )
    await asyncio.wait([url, task], return_when=asyncio.FIRST_COMPLETED)
    try:
        yield Served(url.result(), requests, task)
    finally:
        requests.ask()
        await task


async def until(observe: Callable[[], object], within: float = 10.0) -> None:
    """Let the loop go on until something is so."""
    async with asyncio.timeout(within):
        while not observe():  # noqa: ASYNC110 - what is observed tells nobody when it changes
            await asyncio.sleep(0.005)
