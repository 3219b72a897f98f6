"""Halting: telling a handler to stop, from whichever thread finds out that it should."""

import asyncio

from ..ports.local_time import LocalTime
from .attempt import Attempt, Cause


class Halting:
    """Coroutines are cancelled on their own loop; plain functions read the cause in ``ctx.cancelled``."""

    def __init__(self, time: LocalTime) -> None:
        """Note the moment on this clock."""
        self._time = time
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self) -> None:
        """Belong to the running loop: the worker's."""
        self._loop = asyncio.get_running_loop()

    def halt(self, attempt: Attempt, cause: Cause) -> None:
        """Tell a handler to stop; the first cause counts, except that a lost lease outweighs all others."""
        if attempt.halt(cause, self._time.monotonic()):
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(_cancel, attempt)
            except RuntimeError:  # the worker's loop has closed, and its handlers with it
                return


def _cancel(attempt: Attempt) -> None:
    """Cancel a handler that has begun; one that has not will not begin."""
    if attempt.started is not None and not attempt.ended and attempt.running is not None:
        attempt.running.cancel()
