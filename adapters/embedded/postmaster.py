"""The server's main process, and what may be left of a server without one."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

PROCESSES = Path(os.sep, "proc")  # Linux; elsewhere orphans are left to notice by themselves


def postmaster(data: Path) -> int | None:
    """Return the id of the live main process, None when there is none."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", maxsplit=1)[0])
    except (FileNotFoundError, ValueError):
        return None
    return pid if _serves(pid, data) else None


def clear_stale_pidfile(data: Path) -> None:
    """Remove a killed server's note, whose id may be a stranger's by now; only when none of its processes is left."""
    (data / "postmaster.pid").unlink(missing_ok=True)


def quit_orphans(data: Path) -> None:
    """End processes that outlived their main process and are too busy to have noticed."""
    for pid in _processes_in(data):
        _signal(pid, signal.SIGQUIT)


def _serves(pid: int, data: Path) -> bool:
    if PROCESSES.exists():
        return _works_in(PROCESSES / str(pid), data)
    return _signal(pid, 0)


def _processes_in(data: Path) -> Iterator[int]:
    for process in PROCESSES.glob("[0-9]*"):
        if _works_in(process, data):
            yield int(process.name)


def _works_in(process: Path, data: Path) -> bool:
    try:
        return (process / "comm").read_text().startswith("postgres") and (process / "cwd").readlink() == data
    except OSError:  # gone, a zombie, or somebody else's
        return False


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
