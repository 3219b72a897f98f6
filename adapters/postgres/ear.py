"""Listens on a connection of its own; a dead one is noticed and replaced."""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.pq.abc import PGconn

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
        connection.add_notify_handler(lambda notification: self._heard(notification.payload))
        await connection.execute(f"LISTEN {quoted(self._channel)}")
        self.listening.set()
        self._heard(None)
        while True:
            await self._hear(connection.pgconn, connection.info.encoding)
            query = self._alive()
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection.execute(query.statement.sql, query.values)
            self._wait = 0.0

    async def _hear(self, pgconn: PGconn, encoding: str) -> None:
        """Hear for a while, straight from the event loop: a task in between would take one turn of it more."""
        loop, descriptor = asyncio.get_running_loop(), pgconn.socket
        broken: asyncio.Future[Exception] = loop.create_future()

        def read() -> None:
            try:
                pgconn.consume_input()
                hear()
            except Exception as error:  # noqa: BLE001  raised below, where somebody can hear of it
                loop.remove_reader(
                    descriptor
                )  # may be closed by now: the next to be opened may get its number
                broken.set_result(error)

        def hear() -> None:
            while notification := pgconn.notifies():
                self._heard(notification.extra.decode(encoding))

        loop.add_reader(descriptor, read)
        try:
            hear()  # what came with the answer to a statement is read already
            await asyncio.wait((broken,), timeout=PROBE_SECONDS)
        finally:
            if not broken.done():
                loop.remove_reader(descriptor)
        if broken.done():
            raise broken.result()
