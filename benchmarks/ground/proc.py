"""What processes have used, read from /proc; NaN where there is none."""

import math
import os
from pathlib import Path

import psycopg

TICK = os.sysconf("SC_CLK_TCK")
PPID, UTIME, CUTIME = 1, 11, 13


def cpu_seconds(pid: int, *, reaped: bool = False) -> float:
    """Return user and system time of a process and its living children; ``reaped`` adds those that have ended."""
    fields = _stat(pid)
    if fields is None:
        return math.nan
    ticks = sum(map(int, fields[UTIME : CUTIME + (2 if reaped else 0)]))
    children = (cpu_seconds(child) for child in _children(pid))
    return ticks / TICK + sum(used for used in children if not math.isnan(used))


def server_process(dsn: str) -> int:
    """Return the process id of the server; 0 when it runs on another machine."""
    with psycopg.connect(dsn) as connection:  # its backend is there as long as it is open
        fields = _stat(connection.info.backend_pid)
    return int(fields[PPID]) if fields else 0


def memory_mb(pid: int, what: str = "VmRSS") -> float:
    """Return the resident memory of a process in MB; ``VmHWM`` is the most it ever had."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return math.nan
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(what)), math.nan)


def _stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
