"""Processes of the measurement: none outlives the driver."""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping
from typing import IO

from adapter import HERE

DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def _die_with_driver() -> None:
    """Linux: a worker that outlived the driver would take jobs of the next run."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)


def spawn(command: list[str], log: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own; both of its streams go to ``log``."""
    return subprocess.Popen(
        command,
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": str(HERE), **environment},
        start_new_session=True,
        preexec_fn=_die_with_driver,  # noqa: PLW1509 - the driver has no threads that hold locks
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )


def end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Ask a process and its children to end, and kill them when ``grace`` seconds are over."""
    if process.poll() is None:
        signal_all(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    signal_all(process, signal.SIGKILL)
    process.wait()


def signal_all(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and its children, if there are any left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
