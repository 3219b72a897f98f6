"""A scheduler's ear: rings its bell when somebody has changed a schedule."""

import asyncio
from collections.abc import Callable

from sqlalchemy import text

from .database import Database
from .ear import Ear
from .query import Query, Statement
from .schedule_waking import scheduler_channel

_ALIVE = Statement(text("SELECT 1"), writes=False)


class PostgresScheduleWakeups:
    """Implements the port ``ScheduleWakeups``; behind a transaction pooler there is no LISTEN, and polls do it all."""

    def __init__(self, database: Database) -> None:
        """Listen on a connection of its own to this database."""
        self._database = database
        self._listener: asyncio.Task[None] | None = None

    def open(self, ring: Callable[[], None]) -> None:
        """Start listening; ``ring`` is called on this loop."""
        if self._database.connector.pooled:
            return
        ear = Ear(
            self._database.connector,
            scheduler_channel(self._database.schema),
            lambda _: ring(),
            lambda: Query(_ALIVE),
        )
        self._listener = asyncio.create_task(ear.listen())

    async def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
