"""A command under its guard: started, read, waited for and ended, from the worker's event loop."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from attrs import define, field

from ...application.shell import ShellCommand
from . import guard
from .tail import Tail

GUARD = Path(__file__).with_name("guard.py")
KEPT_BYTES = 16 * 1024
"""Of each stream."""
LINGER = 1.0
"""Seconds for reading what is left when a command has ended: what it leaves running may hold its streams open."""


@define(eq=False)
class Guarded:
    """One command; use as an asynchronous context manager, after which nothing of it runs unless it ended by itself."""

    command: ShellCommand
    environment: Mapping[str, str]
    directory: str
    grace: float
    stdout: Tail = field(factory=lambda: Tail(KEPT_BYTES))
    stderr: Tail = field(factory=lambda: Tail(KEPT_BYTES))
    _process: asyncio.subprocess.Process | None = None
    _open: ExitStack = field(factory=ExitStack)
    _control: ExitStack = field(factory=ExitStack)

    async def __aenter__(self) -> Self:
        """Start it; raises OSError, for instance when there is no such directory."""
        starting = asyncio.ensure_future(self._start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.gather(starting, return_exceptions=True)
            await self._end()
            raise
        except BaseException:
            self._close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """End it, if it has not ended."""
        await self._end()

    async def ended(self) -> int:
        """Wait for its end and return the exit code, as shells say it."""
        assert self._process is not None
        code = await self._process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await self.stdout.ended.wait()
                await self.stderr.ended.wait()
        return code if code >= 0 else guard.BY_SIGNAL - code

    async def _start(self) -> None:
        with ExitStack() as theirs:
            told = self._pipe_to(theirs)
            stdout, stderr = [await self._read(tail, theirs) for tail in (self.stdout, self.stderr)]
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(GUARD)),
                *(str(told), str(os.getpid()), str(self.grace), self.command.shell),
                stdin=self._stdin(theirs),
                stdout=stdout,
                stderr=stderr,
                env=guard.packed(self.command.command, self.environment),
                cwd=self.directory,
                pass_fds=(told,),
                start_new_session=True,
            )

    async def _end(self) -> None:
        """Close the pipe that the guard listens to, and wait until it has done its duty."""
        self._control.close()
        try:
            if self._process is not None and await self._dutiful(self._process) < 0:
                pid = self._process.pid
                await asyncio.to_thread(guard.end_session, pid, pid, self.grace)
        finally:
            self._close()

    async def _dutiful(self, process: asyncio.subprocess.Process) -> int:
        """Wait for the guard's end; a negative code says that it was killed, by us if somebody has stopped it."""
        try:
            async with asyncio.timeout(self.grace + guard.KILL_WITHIN + LINGER):
                return await process.wait()
        except TimeoutError:
            process.kill()
            return await process.wait()

    def _close(self) -> None:
        self._control.close()
        self._open.close()

    def _pipe_to(self, theirs: ExitStack) -> int:
        """Return the guard's end of a pipe that tells it, by being closed, to end the command."""
        reading, writing = os.pipe()
        theirs.callback(os.close, reading)
        self._control.callback(os.close, writing)
        return reading

    async def _read(self, tail: Tail, theirs: ExitStack) -> int:
        """Return the command's end of a pipe whose other end is read by a tail."""
        reading, writing = os.pipe()
        theirs.callback(os.close, writing)
        pipe = os.fdopen(reading, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: tail, pipe)
        self._open.callback(transport.close)
        return writing

    def _stdin(self, theirs: ExitStack) -> int:
        """Return a file to read the command's standard input from."""
        if self.command.stdin is None:
            return asyncio.subprocess.DEVNULL
        file = theirs.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is used as one
        file.write(self.command.stdin.encode())
        file.seek(0)
        return file.fileno()
