"""What every long-running process does first: wait for the database, and refuse a schema that is not its own."""

import asyncio
import logging
import random

from ..adapters.postgres import migrations
from ..application.worker.backoff import Backoff
from ..domain.errors import FencepostError, Unavailable
from .container import Container

_log = logging.getLogger(__name__)


class MigrationsPending(FencepostError):
    """The database's schema is older than this program."""


async def ready(container: Container, stopping: asyncio.Event) -> bool:
    """Wait until the database answers, or until asked to stop, which returns False.

    Raises MigrationsPending, InvalidInput for a bad schema name.
    """
    backoff = Backoff(random.random)
    while not stopping.is_set():
        try:
            await asyncio.to_thread(_check, container.dsn(), container.settings().schema)
        except Unavailable as error:
            if backoff.tries == 0:
                _log.warning("database out of reach, trying again: %s", error)
            await _pause(backoff.failed(), stopping)
        else:
            return True
    return False


def _check(dsn: str, schema: str) -> None:
    if pending := migrations.pending(dsn, schema):
        raise MigrationsPending(
            f"schema {schema} lacks migrations ({', '.join(pending)}): run `fencepost db migrate`"
        )


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        pass
