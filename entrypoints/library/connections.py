"""The connections of one app: some for each event loop, some for threads, and none shared across a fork."""

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from ...application.handlers import Handlers

if TYPE_CHECKING:
    from ...application.ports.submitter import CallersTransactions, SyncSubmitter
    from ..container import Container

Guard = AsyncGenerator[None, None]


@define
class _Process:
    """What one process has; a child made by fork begins anew and never touches its parent's sockets."""

    loops: dict[asyncio.AbstractEventLoop, tuple["Container", Guard]] = field(factory=dict)
    lock: threading.Lock = field(factory=threading.Lock)
    threads: "SyncSubmitter | None" = None
    close_threads: Callable[[], object] | None = None


@frozen(eq=False)
class Connections:
    """Opened when first used; closed by hand, with their event loop, or at the end of the program."""

    flags: Mapping[str, object]
    handlers: Handlers
    _processes: dict[int, _Process] = field(factory=dict, init=False)

    async def on_loop(self) -> "Container":
        """Return what the running event loop uses."""
        loop, process = asyncio.get_running_loop(), self._process
        if loop not in process.loops:
            container = self._built()
            guard = _closing(container, weakref.ref(process), loop)
            process.loops[loop] = container, guard
            # The loop closes the generators begun on it when it shuts down: nobody has to remember to close us.
            await anext(guard)
            await _close_ended(process.loops)
        return process.loops[loop][0]

    def in_threads(self) -> "SyncSubmitter":
        """Return what synchronous code uses, in whatever thread."""
        process = self._process
        with process.lock:
            if process.threads is None:
                submitter = self._built().sync_submitter()
                process.threads = submitter
                process.close_threads = weakref.finalize(self, _close_own, submitter.close, os.getpid())
            return process.threads

    @cached_property
    def of_callers(self) -> "CallersTransactions":
        """What submits through callers' own connections; it needs no database address."""
        from ..container import in_callers_transactions  # noqa: PLC0415 - as in _built

        return in_callers_transactions(self.flags)

    async def close(self) -> None:
        """Close those of the running event loop, and those of threads; the next use opens new ones."""
        found = self._process.loops.get(asyncio.get_running_loop())
        if found is not None:
            await _left(
                found[0]
            )  # and kept: who is still submitting comes back to it, and it ends with the loop
        self.close_threads()

    def close_threads(self) -> None:
        """Close those of threads."""
        process = self._process
        with process.lock:
            if process.close_threads is not None:
                process.close_threads()
            process.threads = process.close_threads = None

    @property
    def _process(self) -> _Process:
        return self._processes.setdefault(os.getpid(), _Process())

    def _built(self) -> "Container":
        # They load the database driver, which --help does not need.
        from ..container import assemble  # noqa: PLC0415
        from ..location import located  # noqa: PLC0415

        settings, dsn = located(self.flags)
        return assemble(settings, dsn, self.handlers)


async def _closing(
    container: "Container", process: weakref.ref[_Process], loop: asyncio.AbstractEventLoop
) -> Guard:
    try:
        yield
    finally:
        if (alive := process()) is not None:
            alive.loops.pop(loop, None)
        await _left(container)


async def _left(container: "Container") -> None:
    from ..container import closed  # noqa: PLC0415 - as in _built

    await closed(container)


async def _close_ended(loops: dict[asyncio.AbstractEventLoop, tuple["Container", Guard]]) -> None:
    """Close what loops left behind that were closed without being shut down."""
    for loop in list(loops):
        if loop.is_closed() and (kept := loops.pop(loop, None)) is not None:
            await kept[1].aclose()


def _close_own(close: Callable[[], None], process_id: int) -> None:
    if os.getpid() == process_id:
        close()
