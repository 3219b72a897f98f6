"""Handlers that are plain functions: daemon threads, reused, as many as run at once."""

import asyncio
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from ...application.ports.executor import Work

_Entry = tuple[asyncio.AbstractEventLoop, Work] | None


class Unstoppable:
    """Work in a thread: it cannot be stopped from outside, only ask ``ctx.cancelled`` itself."""

    def cancel(self) -> None:
        """Do nothing."""


class ThreadExecutor:
    """Threads are daemons: one that never ends must not keep a stopped process alive."""

    def __init__(self, name: str = "fencepost-handler") -> None:
        """Name the threads."""
        self._name = name
        self._jobs: SimpleQueue[_Entry] = SimpleQueue()
        self._lock = Lock()
        self._spare = 0
        self._threads = 0

    def start(self, work: Work) -> Unstoppable:
        """Wake a spare thread, or start another; raises RuntimeError when the system has no more of them."""
        with self._lock:
            if self._spare <= 0:
                Thread(target=self._serve, name=f"{self._name}-{self._threads}", daemon=True).start()
                self._threads += 1
            self._spare -= 1
        self._jobs.put((asyncio.get_running_loop(), work))
        return Unstoppable()

    def close(self) -> None:
        """End spare threads; busy ones end after their work."""
        with self._lock:
            count, self._threads = self._threads, 0
        for _ in range(count):
            self._jobs.put(None)

    def _serve(self) -> None:
        with self._lock:
            self._spare += 1
        while (job := self._jobs.get()) is not None:
            loop, work = job
            outcome = copy_context().run(_call, work)
            with self._lock:
                self._spare += 1
            _tell(loop, work, *outcome)
            del job, work, outcome


def _call(work: Work) -> tuple[Any, BaseException | None]:
    try:
        return work.begin(), None
    except BaseException as error:  # noqa: BLE001  a handler may raise anything, SystemExit included
        return None, error


def _tell(loop: asyncio.AbstractEventLoop, work: Work, result: Any, error: BaseException | None) -> None:
    try:
        loop.call_soon_threadsafe(work.end, result, error)
    except RuntimeError:  # the loop has closed: the process is going down, the lease will run out
        return
