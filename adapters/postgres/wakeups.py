"""A worker's registration, its idle flag and its ear. Losing a wake-up costs a fallback poll, never a job."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from time import monotonic

import psycopg
from attrs import frozen
from sqlalchemy import ARRAY, Boolean, Text, bindparam, text

from ...domain.errors import FencepostError
from .connector import CONNECT_SECONDS
from .database import Database
from .ear import PROBE_SECONDS, Ear
from .query import Query, Statement
from .waking import channel, quoted

# Visible at once, but not waited for: what a crash of the server forgets here is only a hint.
_HERE = """
INSERT INTO {schema}.workers (worker, queues, types, build, idle)
SELECT :worker, :queues, :types, :build, :idle WHERE set_config('synchronous_commit', 'off', true) IS NOT NULL
ON CONFLICT (worker) DO UPDATE SET idle = excluded.idle, last_seen_at = clock_timestamp()
"""
_GONE = "DELETE FROM {schema}.workers WHERE worker = :worker"


@frozen
class _Statements:
    here: Statement
    gone: Statement


@cache
def _statements(schema: str) -> _Statements:
    typed = [bindparam(name, type_=ARRAY(Text)) for name in ("queues", "types")]
    typed += [bindparam(name, type_=Text) for name in ("worker", "build")]
    here = text(_HERE.format(schema=quoted(schema))).bindparams(*typed, bindparam("idle", type_=Boolean))
    gone = text(_GONE.format(schema=quoted(schema))).bindparams(bindparam("worker", type_=Text))
    return _Statements(Statement(here, writes=False), Statement(gone, writes=False))


def _nobody() -> None:
    """Nobody waits yet."""


class PostgresWakeups:
    """Implements the port ``Wakeups``.

    ``poll_only`` is for a transaction pooler, which has no LISTEN: nobody is told to wake this worker, it only sleeps.
    """

    def __init__(
        self,
        database: Database,
        *,
        types: Iterable[str] = (),
        build: str | None = None,
        poll_only: bool | None = None,
    ) -> None:
        """Register through this database; listen on another connection to it."""
        self._database, self._types, self._build = database, sorted(types), build
        self._poll_only = database.connector.pooled if poll_only is None else poll_only
        self._statements = _statements(database.schema)
        self._worker, self._queues, self._idle = "", frozenset[str](), False
        self._woken: set[str] = set()
        self._signal: Callable[[], None] = _nobody
        self._listener: asyncio.Task[None] | None = None
        self._seen = monotonic()

    async def open(self, worker: str, queues: Sequence[str]) -> None:
        """Register, and start listening; a database that can't be listened to yet is not waited for long."""
        self._worker, self._queues = worker, frozenset(queues)
        await self._database.execute(self._here())
        if self._poll_only:
            return
        ear = Ear(self._database.connector, channel(self._database.schema), self._heard, self._here)
        self._listener = asyncio.create_task(ear.listen())
        with suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await ear.listening.wait()

    async def set_idle(self, idle: bool) -> None:
        """Commit whether this worker waits for a wake-up."""
        self._idle = idle and not self._poll_only
        await self._database.execute(self._here())
        self._seen = monotonic()

    async def wait(self, timeout: float) -> frozenset[str]:
        """Return the queues woken since the last call; empty after ``timeout`` seconds without one."""
        if self._listener is not None and self._listener.done():
            self._listener.result()  # only a bug ends it
        if not self._woken:
            await self._woken_within(timeout)
        woken = frozenset(self._woken)
        self._woken.clear()
        if not woken:
            await self._show_life()
        return woken

    async def close(self) -> None:
        """Stop listening and forget the worker."""
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
        await self._database.execute(self._statements.gone(worker=self._worker))

    def _here(self) -> Query:
        return self._statements.here(
            worker=self._worker,
            queues=sorted(self._queues),
            types=self._types,
            build=self._build,
            idle=self._idle,
        )

    def _heard(self, queue: str | None) -> None:
        """Wake for one queue; for all when something may have been missed."""
        woken = self._queues if queue is None else self._queues & {queue}
        if woken:
            self._woken |= woken
            self._signal()

    async def _woken_within(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()

        def signal() -> None:
            if not waiting.done():
                waiting.set_result(None)

        self._signal = signal
        timer = loop.call_later(seconds, signal)
        try:
            await waiting
        finally:
            timer.cancel()

    async def _show_life(self) -> None:
        """Without an ear nobody else does it."""
        if self._poll_only and monotonic() - self._seen > PROBE_SECONDS:
            self._seen = monotonic()
            with suppress(FencepostError, psycopg.Error):
                await self._database.execute(self._here())
