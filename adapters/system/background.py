"""Background loops: one in a thread of its own, and one that shares the caller's."""

import asyncio
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """An event loop in a daemon thread, started with the first call."""

    def __init__(self, name: str = "fencepost-background") -> None:
        """Name the thread."""
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    async def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` on the thread's loop; cancelling the call cancels it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._running()))

    def close(self) -> None:
        """Cancel what still runs, stop the loop and wait a little for the thread."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=1)
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=_serve, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


class SameLoop:
    """No second loop: for simulations and tests that own every step."""

    async def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` right here."""
        return await work()

    def close(self) -> None:
        """Nothing to stop."""


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(_cancel(asyncio.all_tasks(loop)))
    finally:
        loop.close()


async def _cancel(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
