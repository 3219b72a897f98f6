"""The only composition root: which class stands behind which port."""

from collections.abc import Mapping

from dependency_injector import containers, providers

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
from ..adapters.system.local_time import SystemTime
from ..application.handlers import Handlers
from ..application.operating import Operating
from ..application.submitting import Submitting
from ..domain.errors import Unavailable
from .settings import Settings, database_url, load

POOL_SIZE = 8
"""Connections of an API process or an app; a worker's loops have databases of one connection each."""


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
        pooler=settings.provided.pooler,
    )
    job_store = providers.Singleton(PostgresJobStore, database)
    submitter = providers.Singleton(PostgresSubmitter, database)
    sync_submitter = providers.Singleton(SyncPostgresSubmitter, dsn, schema=settings.provided.schema)
    callers_transactions = providers.Singleton(PostgresCallersTransactions, schema=settings.provided.schema)
    job_reader = providers.Singleton(PostgresJobReader, database)
    event_log = providers.Singleton(PostgresEventLog, database)
    queue_store = providers.Singleton(PostgresQueueStore, database)
    transactions = providers.Singleton(PostgresTransactions, dsn, database)
    submitting = providers.Singleton(Submitting, submitter, principal)
    operating = providers.Singleton(Operating, job_store, time)


def build(flags: Mapping[str, object], handlers: Handlers | None = None) -> Container:
    """Load the settings and return a container over the database they name.

    Raises Unavailable when they name none, InvalidInput for a bad setting.
    """
    settings = load(flags)
    dsn = database_url(settings)
    if dsn is None:
        raise Unavailable(
            "no database is named: set FENCEPOST_DATABASE_URL, or start one with `fencepost up`"
        )
    return assemble(settings, dsn, handlers)


def assemble(settings: Settings, dsn: str, handlers: Handlers | None = None) -> Container:
    """Return a container over a database that is known already."""
    return Container(settings=settings, dsn=dsn, handlers=handlers or Handlers())


async def opened(container: Container) -> Container:
    """Connect; doing it again changes nothing."""
    await container.database().open()
    return container


async def closed(container: Container) -> None:
    """Leave every connection."""
    await container.transactions().close()
    await container.database().close()
