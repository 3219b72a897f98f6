"""What every long-running process does first: wait for the database, and refuse a schema that is not its own."""

import asyncio
import logging
import random
from enum import Enum, auto

from ..adapters.postgres import migrations
from ..application.worker.backoff import Backoff
from ..domain.errors import Unavailable
from .container import Container
from .schema import MigrationsPending

_log = logging.getLogger(__name__)


class Start(Enum):
    """How a process found its database."""

    AT_ONCE = auto()
    AFTER_OUTAGE = auto()
    STOPPED = auto()
    """Asked to stop before it answered."""


async def ready(container: Container, stopping: asyncio.Event) -> Start:
    """Wait until the database answers, or until asked to stop.

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
            return Start.AT_ONCE if backoff.tries == 0 else Start.AFTER_OUTAGE
    return Start.STOPPED


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
