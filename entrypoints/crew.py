"""Child processes that are started again when they end, and stopped together."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import define, field

from . import stopping
from .cli.exits import USAGE, ChildFailed
from .stopping import StopRequests

_log = logging.getLogger(__name__)

QUICK = 5.0
"""Seconds below which a life was too short to count as a success."""
QUICK_ENDS = 5
"""Quick ends in a row after which a member is given up."""
PAUSE = 0.25
"""Seconds before a member is started again; doubled with each quick end in a row."""
MARGIN = 15.0
"""Seconds that stopping a member may take beyond its drain grace."""
ABORT_WITHIN = stopping.ABORT_WITHIN + 1.0
"""Seconds an abort may take before a member is killed."""
LEAVE_WITHIN = ABORT_WITHIN + 5.0
"""Seconds after a second request in which a process that keeps a crew ends whatever happens."""


@define
class Crew:
    """Every member is a `fencepost` command; its output goes where ours goes, and its log lines name it."""

    environment: Mapping[str, str] = field(factory=dict)
    _running: dict[str, asyncio.subprocess.Process] = field(factory=dict)
    _stopping: asyncio.Event = field(factory=asyncio.Event)

    async def serve(
        self, members: Mapping[str, Sequence[str]], requests: StopRequests, within: float
    ) -> None:
        """Keep the commands running, by name, until asked to stop or one keeps ending; return when all are gone.

        ``within`` is how many seconds stopping may take before who remains is killed; a second request makes it an
        abort. Raises ChildFailed.
        """
        kept = [asyncio.ensure_future(self._keep(name, command)) for name, command in members.items()]
        asked = asyncio.ensure_future(requests.stopping.wait())
        try:
            await asyncio.wait({asked, *kept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            await self._stop(kept, requests.aborting, within)
        for member in kept:
            member.result()

    async def _keep(self, name: str, command: Sequence[str]) -> None:
        loop, quick = asyncio.get_running_loop(), 0
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._run(name, command)
            if self._stopping.is_set():
                _log.info("%s %s", name, _ending(code))
                return
            quick = quick + 1 if loop.time() - began < QUICK else 0
            if code == USAGE or quick == QUICK_ENDS:
                raise _failure(name, code)
            _log.warning("%s %s; starting it again", name, _ending(code))
            await self._pause(PAUSE * 2**quick)

    async def _run(self, name: str, command: Sequence[str]) -> int:
        """Run one life of a member and return its exit code, that of a signal as a negative number."""
        theirs, ours = os.pipe()
        try:
            # A session of its own keeps the terminal's Ctrl-C away: it reaches the crew through us, once.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "fencepost.entrypoints.tied", name, *command),
                stdin=theirs,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
            self._running[name] = process
            _log.info("%s started", name, extra={"pid": process.pid})
            if self._stopping.is_set():
                process.terminate()
            return await process.wait()
        finally:
            os.close(theirs)
            os.close(ours)
            self._running.pop(name, None)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def _stop(self, kept: list[asyncio.Task[None]], aborting: asyncio.Event, within: float) -> None:
        """Tell everybody to stop, on a second request to abort, and kill who does not obey."""
        self._stopping.set()
        self._tell(signal.SIGTERM)
        gone = asyncio.gather(*kept, return_exceptions=True)
        aborted = asyncio.ensure_future(aborting.wait())
        either: set[asyncio.Future[Any]] = {gone, aborted}
        await asyncio.wait(either, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        aborted.cancel()
        if aborting.is_set() and not gone.done():
            self._tell(signal.SIGINT)  # another number: two pending signals of one number are one
            await asyncio.wait({gone}, timeout=ABORT_WITHIN)
        if not gone.done():
            _log.warning("killing what does not stop: %s", ", ".join(self._running))
            self._tell(signal.SIGKILL)
        await gone

    def _tell(self, number: signal.Signals) -> None:
        for process in self._running.values():
            with suppress(ProcessLookupError):  # it has just ended
                process.send_signal(number)


def workers(number: int, command: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return so many members that run the same `fencepost worker`, each as one process."""
    return {f"worker {nth}": (*command, "--processes=1") for nth in range(1, number + 1)}


def _failure(name: str, code: int) -> ChildFailed:
    often = "" if code == USAGE else f", {QUICK_ENDS} times in a row within {QUICK:g} s of its start"
    _log.error("giving %s up, and stopping everything", name)
    return ChildFailed(f"{name} {_ending(code)}{often}; its own message is above", code)


def _ending(code: int) -> str:
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
