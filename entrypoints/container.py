"""The only composition root: which class stands behind which port.

``worker_container`` adds what only a worker process has, so that nobody else waits for its imports.
"""

import random
from collections.abc import Mapping

from ..adapters.postgres.backfill_store import PostgresBackfillStore
from ..adapters.postgres.database import Database
from ..adapters.postgres.event_log import PostgresEventLog
from ..adapters.postgres.firing_store import PostgresFiringStore
from ..adapters.postgres.job_reader import PostgresJobReader
from ..adapters.postgres.job_store import PostgresJobStore
from ..adapters.postgres.queue_store import PostgresQueueStore
from ..adapters.postgres.schedule_store import PostgresScheduleStore
from ..adapters.postgres.schedule_wakeups import PostgresScheduleWakeups
from ..adapters.postgres.submitter import PostgresSubmitter, SyncPostgresSubmitter
from ..adapters.system.local_time import SystemTime
from ..application.backfilling import Backfilling
from ..application.declarations import Syncing
from ..application.firing import FiringLoop
from ..application.handlers import Handlers
from ..application.operating import Operating
from ..application.ports.submitter import CallersTransactions
from ..application.reaping import Reaper
from ..application.scheduling import Scheduling
from ..application.submitting import Submitting
from .injection import containers, providers
from .settings import Settings, load

POOL_SIZE = 8
"""Connections of an API process or an app; a worker's loops have databases of one connection each."""


def callers_transactions(schema: str, wakes: bool) -> CallersTransactions:
    """Return what submits through callers' connections."""
    from ..adapters.postgres.callers_transactions import (  # noqa: PLC0415 - loads SQLAlchemy's ORM, and few ask
        PostgresCallersTransactions,
    )

    return PostgresCallersTransactions(schema, wakes=wakes)


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
    submitter = providers.Singleton(PostgresSubmitter, database, wakes=settings.provided.wakeups)
    sync_submitter = providers.Singleton(
        SyncPostgresSubmitter,
        dsn,
        schema=settings.provided.schema,
        pooled=settings.provided.pooler,
        wakes=settings.provided.wakeups,
    )
    callers_transactions = providers.Singleton(
        callers_transactions, schema=settings.provided.schema, wakes=settings.provided.wakeups
    )
    job_reader = providers.Singleton(PostgresJobReader, database)
    event_log = providers.Singleton(PostgresEventLog, database)
    queue_store = providers.Singleton(PostgresQueueStore, database)
    submitting = providers.Singleton(Submitting, submitter, principal)
    operating = providers.Singleton(Operating, job_store, job_reader, time)
    pending_migrations = providers.Callable(pending_migrations, dsn, settings)

    draw = providers.Object(random.random)
    schedule_store = providers.Singleton(PostgresScheduleStore, database)
    firing_store = providers.Singleton(PostgresFiringStore, database)
    backfill_store = providers.Singleton(PostgresBackfillStore, database)
    backfilling = providers.Singleton(Backfilling, backfill_store)
    scheduling = providers.Singleton(Scheduling, schedule_store, firing_store, schedule_store)
    syncing = providers.Singleton(Syncing, scheduling, schedule_store)
    firing_loop = providers.Singleton(
        FiringLoop,
        firing_store,
        backfill_store,
        providers.Singleton(PostgresScheduleWakeups, database),
        time,
        draw,
    )
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


async def closed(container: Container) -> None:
    """Leave every connection."""
    await container.database().close()
