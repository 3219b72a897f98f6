"""The composition root of a worker process: what ``container`` has, and what runs handlers."""

from ..adapters.executors.coroutines import CoroutineExecutor
from ..adapters.executors.threads import ThreadExecutor
from ..adapters.postgres.database import RepeatingDatabase
from ..adapters.postgres.job_store import PostgresJobStore
from ..adapters.postgres.queue_store import PostgresQueueStore
from ..adapters.postgres.transactions import PostgresTransactions
from ..adapters.postgres.wakeups import PostgresWakeups
from ..adapters.system.background import LoopThread
from ..adapters.system.identity import new_claim_id, new_worker_id
from ..application.handlers import Handlers
from ..application.worker.runtime import Worker, WorkerPorts
from ..application.worker.settings import WorkerSettings
from .container import Container, closed
from .injection import providers
from .settings import Settings

SLOTS = 10
"""Slots of a queue that nobody gave a number of them."""


def queues_served(settings: Settings, handlers: Handlers) -> dict[str, int]:
    """Return the queues and slots of a worker: as set, else all that its handlers name."""
    return settings.queues or dict.fromkeys(sorted(handlers.queues), SLOTS)


class WorkerContainer(Container):
    """A worker's loops have databases of one connection each; reports take a second one when they are in arrears.

    ``looks`` connects only where claims would take long otherwise.
    """

    transactions = providers.Singleton(PostgresTransactions, Container.dsn, Container.database)
    single = providers.Factory(
        RepeatingDatabase,
        Container.dsn,
        schema=Container.settings.provided.schema,
        pool_size=1,
        pooled=Container.settings.provided.pooler,
    )
    claims = providers.Singleton(single, application_name="fencepost worker claims")
    reports = providers.Singleton(single, application_name="fencepost worker reports", pool_size=2)
    heartbeats = providers.Singleton(single, application_name="fencepost worker heartbeats")
    looks = providers.Singleton(single, application_name="fencepost worker looks")
    claim_store = providers.Singleton(PostgresJobStore, claims, looks=looks)
    background = providers.Singleton(LoopThread)
    worker_settings = providers.Singleton(
        WorkerSettings,
        worker=providers.Factory(new_worker_id),
        queues=providers.Callable(queues_served, Container.settings, Container.handlers),
        build=Container.settings.provided.build,
        heartbeat=Container.settings.provided.heartbeat,
        drain_grace=Container.settings.provided.drain_grace,
        fallback_poll=Container.settings.provided.poll,
    )
    worker_ports = providers.Singleton(
        WorkerPorts,
        claims=claim_store,
        reports=providers.Singleton(PostgresJobStore, reports),
        heartbeats=providers.Singleton(PostgresJobStore, heartbeats),
        queues=providers.Singleton(PostgresQueueStore, claims),
        wakeups=providers.Singleton(
            PostgresWakeups,
            claims,
            types=Container.handlers.provided.types,
            build=Container.settings.provided.build,
        ),
        transactions=transactions,
        executors=providers.Dict(
            {"async": providers.Singleton(CoroutineExecutor), "thread": providers.Singleton(ThreadExecutor)}
        ),
        background=background,
        time=Container.time,
        draw=Container.draw,
        new_claim_id=providers.Object(new_claim_id),
    )
    worker = providers.Singleton(Worker, worker_settings, Container.handlers, worker_ports)


def assemble_worker(settings: Settings, dsn: str, handlers: Handlers) -> WorkerContainer:
    """Return a worker's container over a database that is known already."""
    return WorkerContainer(settings=settings, dsn=dsn, handlers=handlers)


async def worker_closed(container: WorkerContainer) -> None:
    """Leave every connection of a worker that has run, each on the loop it was opened on."""
    await container.background().call(container.heartbeats().close)
    container.background().close()
    for executor in container.worker_ports().executors.values():
        executor.close()
    await container.claim_store().close()
    await container.looks().close()
    await container.claims().close()
    await container.reports().close()
    await container.transactions().close()
    await closed(container)
