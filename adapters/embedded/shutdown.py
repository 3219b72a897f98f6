"""Ending a server, with patience first."""

import os
import signal
import time
from pathlib import Path

from .errors import StopFailed
from .locks import PAUSE, is_locked
from .postmaster import postmaster, quit_orphans


def end_server(data: Path, running: Path, timeout: float) -> None:
    """Ask for a fast shutdown, after the timeout for an immediate one, and wait for the last process.

    Raises StopFailed when one is left even then.
    """
    if _ended(data, running, signal.SIGINT, timeout):
        return
    quit_orphans(data)
    if not _ended(data, running, signal.SIGQUIT, timeout):
        raise StopFailed(f"processes of the server in {data} do not end")


def _ended(data: Path, running: Path, request: signal.Signals, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    asked = None
    while is_locked(running):
        pid = postmaster(data)
        if pid is not None and pid != asked:
            os.kill(pid, request)
            asked = pid
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True
