"""The only composition root: which class stands behind which port."""

import random
from collections.abc import Mapping

from ..adapters.executors.coroutines import CoroutineExecutor
from ..adapters.executors.threads import ThreadExecutor
from ..adapters.postgres.database import Database
from ..adapters.postgres.event_log import PostgresEventLog
from ..adapters.postgres.job_reader import PostgresJobReader
from ..adapters.postgres.job_store import PostgresJobStore
from ..adapters.postgres.queue_store import PostgresQueueStore
from ..adapters.postgres.submitter import (
    PostgresCallersTransactions,
    PostgresSubmitter,
    SyncPostgresSubmitter,
)
from ..adapters.postgres.transactions import PostgresTransactions
from ..adapters.postgres.wakeups import PostgresWakeups
from ..adapters.system.background import LoopThread
from ..adapters.system.identity import new_claim_id, new_worker_id
from ..adapters.system.local_time import SystemTime
from ..application.handlers import Handlers
from ..application.operating import Operating
from ..application.ports.submitter import CallersTransactions
from ..application.reaping import Reaper
from ..application.submitting import Submitting
from ..application.worker.runtime import Worker, WorkerPorts
from ..application.worker.settings import WorkerSettings
from .injection import containers, providers
from .settings import Settings, load

POOL_SIZE = 8
"""Connections of an API process or an app; a worker's loops have databases of one connection each."""


SLOTS = 10
"""Slots of a queue that nobody gave a number of them."""


def queues_served(settings: Settings, handlers: Handlers) -> dict[str, int]:
    """Return the queues and slots of a worker: as set, else all that its handlers name."""
    return settings.queues or dict.fromkeys(sorted(handlers.queues), SLOTS)


def pending_migrations(dsn: str, settings: Settings) -> list[str]:
    """Return the versions that the database's schema lacks; raises Unavailable."""
    from ..adapters.postgres import migrations  # noqa: PLC0415 - Alembic is heavy, and few ask

    return migrations.pending(dsn, settings.schema)


class Container(containers.DeclarativeContainer):
    """One process's objects; everything is made when first asked for."""

    settings = providers.Dependency(instance_of=Settings)
    dsn = providers.Dependency(instance_of=str)
    handlers = providers.Dependency(instance_of=Handlers, default=Handlers())
    principal = providers.Object("library")

    time = providers.Singleton(SystemTime)
    database = providers.Singleton(
        Database,
        dsn,
        schema=settings.provided.schema,
        pool_size=POOL_SIZE,
        pooled=settings.provided.pooler,
    )
    job_store = providers.Singleton(PostgresJobStore, database)
    submitter = providers.Singleton(PostgresSubmitter, database)
    sync_submitter = providers.Singleton(
        SyncPostgresSubmitter, dsn, schema=settings.provided.schema, pooled=settings.provided.pooler
    )
    callers_transactions = providers.Singleton(PostgresCallersTransactions, schema=settings.provided.schema)
    job_reader = providers.Singleton(PostgresJobReader, database)
    event_log = providers.Singleton(PostgresEventLog, database)
    queue_store = providers.Singleton(PostgresQueueStore, database)
    transactions = providers.Singleton(PostgresTransactions, dsn, database)
    submitting = providers.Singleton(Submitting, submitter, principal)
    operating = providers.Singleton(Operating, job_store, time)
    pending_migrations = providers.Callable(pending_migrations, dsn, settings)

    single = providers.Factory(
        Database, dsn, schema=settings.provided.schema, pool_size=1, pooled=settings.provided.pooler
    )
    claims = providers.Singleton(single, application_name="fencepost worker claims")
    reports = providers.Singleton(single, application_name="fencepost worker reports")
    heartbeats = providers.Singleton(single, application_name="fencepost worker heartbeats")
    background = providers.Singleton(LoopThread)
    draw = providers.Object(random.random)
    worker_settings = providers.Singleton(
        WorkerSettings,
        worker=providers.Factory(new_worker_id),
        queues=providers.Callable(queues_served, settings, handlers),
        build=settings.provided.build,
        heartbeat=settings.provided.heartbeat,
        drain_grace=settings.provided.drain_grace,
        fallback_poll=settings.provided.poll,
    )
    worker_ports = providers.Singleton(
        WorkerPorts,
        claims=providers.Singleton(PostgresJobStore, claims),
        reports=providers.Singleton(PostgresJobStore, reports),
        heartbeats=providers.Singleton(PostgresJobStore, heartbeats),
        queues=providers.Singleton(PostgresQueueStore, claims),
        wakeups=providers.Singleton(
            PostgresWakeups, claims, types=handlers.provided.types, build=settings.provided.build
        ),
        transactions=transactions,
        executors=providers.Dict(
            {"async": providers.Singleton(CoroutineExecutor), "thread": providers.Singleton(ThreadExecutor)}
        ),
        background=background,
        time=time,
        draw=draw,
        new_claim_id=providers.Object(new_claim_id),
    )
    worker = providers.Singleton(Worker, worker_settings, handlers, worker_ports)
    reaper = providers.Singleton(
        Reaper, job_store, event_log.provided.clock, time, draw, every=settings.provided.reap_every
    )


def assemble(settings: Settings, dsn: str, handlers: Handlers | None = None) -> Container:
    """Return a container over a database that is known already."""
    return Container(settings=settings, dsn=dsn, handlers=handlers or Handlers())


def in_callers_transactions(flags: Mapping[str, object]) -> CallersTransactions:
    """Return what submits through callers' connections: the only object that needs no database address."""
    return Container(settings=load(flags)).callers_transactions()


async def opened(container: Container) -> Container:
    """Connect; doing it again changes nothing."""
    await container.database().open()
    return container


async def worker_closed(container: Container) -> None:
    """Leave every connection of a worker that has run, each on the loop it was opened on."""
    await container.background().call(container.heartbeats().close)
    container.background().close()
    for executor in container.worker_ports().executors.values():
        executor.close()
    await container.claims().close()
    await container.reports().close()
    await closed(container)


async def closed(container: Container) -> None:
    """Leave every connection."""
    await container.transactions().close()
    await container.database().close()
