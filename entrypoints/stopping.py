"""SIGTERM and SIGINT: the first asks a process to stop, the second to abort."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import Factory, define

SIGNALS = (signal.SIGTERM, signal.SIGINT)
ABORT_WITHIN = 2.0
"""Seconds an abort may take before the process is ended whatever it does."""
LEAVE_WITHIN = 5.0
"""Seconds a finished process waits for code that will not end, such as a handler that ignores its cancellation."""


@define(eq=False)
class StopRequests:
    """What has been asked so far."""

    stopping: asyncio.Event = Factory(asyncio.Event)
    aborting: asyncio.Event = Factory(asyncio.Event)

    def ask(self) -> None:
        """Ask to stop; asked again, to abort."""
        (self.aborting if self.stopping.is_set() else self.stopping).set()


@contextmanager
def stop_requests() -> Iterator[StopRequests]:
    """Listen for both signals; only in the main thread of a running loop.

    These are the interpreter's signal handlers, not the loop's: a handler that blocks the loop must not make the
    process deaf.
    """
    requests, loop, seen = StopRequests(), asyncio.get_running_loop(), 0

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            leave_within(ABORT_WITHIN, 1)
        loop.call_soon_threadsafe(requests.ask)

    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_within(seconds: float, code: int) -> None:
    """End the process with this exit code unless it has ended by then."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()
