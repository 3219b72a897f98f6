"""SIGTERM and SIGINT: the first asks a process to stop, the second to abort."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from attrs import Factory, define

SIGNALS = (signal.SIGTERM, signal.SIGINT)
ABORT_WITHIN = 2.0
"""Seconds an abort may take before the process is ended whatever it does, unless it asks for more."""

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
def stop_requests(
    abort_within: float = ABORT_WITHIN, signals: Collection[signal.Signals] = SIGNALS
) -> Iterator[StopRequests]:
    """Listen for both signals, or for others; only in the main thread of a running loop.

    ``abort_within`` seconds after the second one the process is ended, whatever it does.
    A handler that blocks the loop must not make the process deaf, so this does not rely on the loop: the interpreter
    writes each signal to a pipe, whichever thread it reached, and a thread of ours reads it.
    """
    requests = StopRequests()
    hearing = _Hearing(requests, asyncio.get_running_loop(), abort_within, signals)
    before = {number: signal.signal(number, hearing.in_main_thread) for number in signals}
    ours, interpreters = socket.socketpair()
    interpreters.setblocking(False)
    theirs = signal.set_wakeup_fd(interpreters.fileno(), warn_on_full_buffer=False)
    threading.Thread(
        target=hearing.listen, args=(ours, theirs), name="fencepost-signals", daemon=True
    ).start()
    try:
        yield requests
    finally:
        signal.set_wakeup_fd(theirs)
        interpreters.close()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Hearing:
    """Counts signals on two ways, each of which can miss some: the pipe may be taken over, handler calls merge."""

    def __init__(
        self,
        requests: StopRequests,
        loop: asyncio.AbstractEventLoop,
        abort_within: float,
        signals: Collection[int],
    ) -> None:
        self._requests, self._loop, self._abort_within = requests, loop, abort_within
        self._signals = signals
        self._by_pipe = self._by_handler = self._passed_on = 0
        self._lock = threading.RLock()

    def listen(self, pipe: socket.socket, theirs: int) -> None:
        """Read signals until the pipe is closed; each goes on to whoever listened before."""
        with pipe:
            while numbers := pipe.recv(64):
                if theirs >= 0:
                    with suppress(OSError):
                        os.write(theirs, numbers)
                self._by_pipe += sum(number in self._signals for number in numbers)
                self._pass_on()

    def in_main_thread(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal as the interpreter's handler."""
        self._by_handler += 1
        self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            news = max(self._by_pipe, self._by_handler) - self._passed_on
            self._passed_on += max(news, 0)
        for _ in range(news):
            with suppress(RuntimeError):  # the loop has closed: the process is ending anyway
                self._loop.call_soon_threadsafe(self._requests.ask)
        if news > 0 and self._passed_on > 1:
            leave_within(self._abort_within, 1)


def leave_within(seconds: float, code: int) -> None:
    """End the process with this exit code unless it has ended by then."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()
