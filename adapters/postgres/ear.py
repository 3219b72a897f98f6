"""Listens on a connection of its own; a dead one is noticed and replaced."""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any

import psycopg

from ...domain.errors import Unavailable
from .connector import CONNECT_SECONDS, Connector
from .query import Query
from .waking import quoted

_log = logging.getLogger(__name__)
PROBE_SECONDS = 5.0
"""How long silence may mean that there was nothing to hear."""
LONGEST_WAIT = 5.0


class Ear:
    """Calls ``heard`` with each payload, and with None after every (re)connection: something may have been missed.

    ``alive`` is run now and then; that it is answered shows that the connection is.
    """

    def __init__(
        self,
        connector: Connector,
        channel: str,
        heard: Callable[[str | None], None],
        alive: Callable[[], Query],
    ) -> None:
        """Connect to nothing yet."""
        self.listening = asyncio.Event()
        self._connector, self._channel = connector, channel
        self._heard, self._alive = heard, alive
        self._wait = 0.0

    async def listen(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                async with await self._connector.connect() as connection:
                    await self._listen_on(connection)
            except (psycopg.Error, Unavailable, OSError) as error:  # a TimeoutError is an OSError
                _log.info("not listening on %s: %s", self._channel, error)
            finally:
                self.listening.clear()
            self._wait = min(LONGEST_WAIT, 2 * self._wait or 0.1)
            await asyncio.sleep(random.uniform(0.5, 1) * self._wait)  # noqa: S311 - spreads reconnections

    async def _listen_on(self, connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute(f"LISTEN {quoted(self._channel)}")
        self.listening.set()
        self._heard(None)
        while True:
            async for notification in connection.notifies(timeout=PROBE_SECONDS):
                self._heard(notification.payload)
            query = self._alive()
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection.execute(query.statement.sql, query.values)
            self._wait = 0.0
