"""A bell: wakes the one coroutine that waits for something to do."""

import asyncio

from ..ports.local_time import LocalTime


class Bell:
    """Rung early, it is heard late: a ring before the wait ends that wait at once."""

    def __init__(self, time: LocalTime) -> None:
        """Wait on this clock."""
        self._time = time
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self) -> None:
        """Belong to the running loop, so that other threads can ring."""
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Wake the waiting coroutine; only from its own loop."""
        self._event.set()

    def ring_across(self) -> None:
        """Wake it from any thread."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self.ring)
        except RuntimeError:  # its loop has closed: nobody is left to be woken
            return

    async def wait(self, seconds: float | None = None) -> None:
        """Return when rung, or after so many seconds."""
        if not self._event.is_set():
            alarm = None if seconds is None else asyncio.ensure_future(self._ring_after(seconds))
            try:
                await self._event.wait()
            finally:
                if alarm is not None:
                    alarm.cancel()
        self._event.clear()

    async def _ring_after(self, seconds: float) -> None:
        await self._time.sleep(max(0.0, seconds))
        self.ring()
