"""Commands under their guards, on asyncio's own event loop: what is left when they are over."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import pytest

from fencepost.adapters.shell.guarded import Guarded
from fencepost.application.shell import ShellCommand
from support.polling import eventually

PATH = "/usr/bin:/bin"


def guarded(command: str, marker: str = "", grace: float = 2.0) -> Guarded:
    """A command that is not started yet; the marker is in the environment of all its processes."""
    return Guarded(ShellCommand(command=command), {"PATH": PATH, "MARKER": marker}, "/", grace)


def marked(marker: str) -> list[int]:
    """The processes with a marker, guards included."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"MARKER={marker}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def open_files() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_command_is_run_and_read_on_any_event_loop() -> None:
    """Workers have a faster one where there is one."""
    async with guarded("echo said; echo complained >&2; exit 7") as one:
        assert await one.ended() == 7
    assert (one.stdout.text(100), one.stderr.text(100)) == ("said\n", "complained\n")


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 5, 8, 13, 40])
async def test_an_attempt_cancelled_at_any_moment_leaves_no_process(turns: int) -> None:
    """Also while its command is being started."""
    marker = token_hex(8)

    async def run() -> None:
        async with guarded("sleep 1000 & sleep 1000", marker) as one:
            await one.ended()

    task = asyncio.ensure_future(run())
    for _ in range(turns):
        await asyncio.sleep(0 if turns < 40 else 0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(marker) == []


async def test_a_guard_that_was_stopped_holds_up_nobody(tmp_path: Path) -> None:
    """Its command may have done it: what the guard would have done is done for it."""
    marker, done = token_hex(8), tmp_path / "done"

    async def run() -> None:
        async with guarded(f"kill -STOP $PPID; touch {done}; sleep 1000", marker, grace=0.1) as one:
            await one.ended()

    task = asyncio.ensure_future(run())
    await asyncio.to_thread(eventually, done.exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(marker) == []


async def test_commands_leave_no_open_files() -> None:
    """However they end: by themselves, cancelled, or not started at all."""
    await _all_endings()
    before = open_files()
    for _ in range(3):
        await _all_endings()
    await asyncio.sleep(0)
    assert open_files() <= before


HOLDING = """
import asyncio, os, sys, time
from pathlib import Path
from fencepost.adapters.shell.guarded import Guarded
from fencepost.application.shell import ShellCommand

async def main():
    command = ShellCommand(command="echo > started; sleep 1000")
    async with Guarded(command, {"PATH": "/usr/bin:/bin", "MARKER": sys.argv[1]}, os.getcwd(), 1.0):
        while not Path("started").exists():
            await asyncio.sleep(0.01)
        if child := os.fork():
            Path("child").write_text(str(child))
            os.kill(os.getpid(), 9)
        time.sleep(1000)

asyncio.run(main())
"""


def test_a_worker_whose_other_child_holds_the_pipe_is_missed_all_the_same(tmp_path: Path) -> None:
    """The guard sees that its parent is another one now."""
    marker = token_hex(8)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", HOLDING, marker], check=False, cwd=tmp_path)
    try:
        assert done.returncode == -signal.SIGKILL
        eventually(lambda: marked(marker) == [])
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


async def _all_endings() -> None:
    async with guarded("true") as one:
        await one.ended()
    async with guarded("sleep 1000"):
        pass
    nowhere = Guarded(ShellCommand(command="true"), {}, "/no/such/folder", 1.0)
    with pytest.raises(OSError, match="No such file"):
        await nowhere.__aenter__()
