"""Child processes that are started again when they end, and stopped together."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping

from attrs import define, field

from ..domain.errors import FencepostError

_log = logging.getLogger(__name__)
BAD_USAGE = 2
"""Exit code of a command that would fail the same way again."""
QUICK = 5.0
"""Seconds below which a life was too short to count as a success."""
QUICK_ENDS = 5
PAUSE = 1.0


class ChildFailed(FencepostError):
    """A child process does not stay alive."""

    def __init__(self, name: str, code: int) -> None:
        """Keep the child's exit code."""
        super().__init__(f"{name} ended with exit code {code}; its own message is above")
        self.code = code


@define
class Crew:
    """Every member is a `fencepost` command; its output goes where ours goes."""

    environment: Mapping[str, str]
    _running: dict[str, asyncio.subprocess.Process] = field(factory=dict)
    _stopping: asyncio.Event = field(factory=asyncio.Event)

    async def keep(self, name: str, *arguments: str) -> None:
        """Keep a command running until the crew is stopped; raises ChildFailed when it keeps ending."""
        loop, quick = asyncio.get_running_loop(), 0
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._run(name, arguments)
            if self._stopping.is_set():
                return
            quick = quick + 1 if loop.time() - began < QUICK else 0
            if code == BAD_USAGE or quick == QUICK_ENDS:
                raise ChildFailed(name, code)
            _log.warning("%s ended with exit code %d; starting it again", name, code)
            await asyncio.sleep(PAUSE)

    async def stop(self, within: float) -> None:
        """Tell everybody to stop and wait; who takes longer is killed."""
        self._stopping.set()
        self.tell(signal.SIGTERM)
        try:
            async with asyncio.timeout(within):
                await self._gone()
        except TimeoutError:
            _log.warning("killing what does not stop: %s", ", ".join(self._running))
            self.tell(signal.SIGKILL)
            await self._gone()

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to everybody."""
        for process in self._running.values():
            process.send_signal(number)

    async def _gone(self) -> None:
        await asyncio.gather(*(process.wait() for process in self._running.values()))

    async def _run(self, name: str, arguments: tuple[str, ...]) -> int:
        # A session of its own keeps the terminal's Ctrl-C away: it reaches the crew through us, once.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "fencepost.entrypoints.tied",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )
        self._running[name] = process
        try:
            if self._stopping.is_set():
                process.terminate()
            return await process.wait()
        finally:
            if process.returncode is not None:
                del self._running[name]
