"""CPU time of processes and of the whole PostgreSQL server, from /proc."""

import contextlib
import os
from pathlib import Path
from typing import Self

import psycopg

TICK = os.sysconf("SC_CLK_TCK")


def proc_cpu(pid: int, *, children: bool = False) -> float:
    """Return the CPU seconds of one process, 0 when it is gone; ``children`` adds those of the reaped ones."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, parts[11 : 15 if children else 13])) / TICK


class ServerCpu:
    """CPU seconds of a whole server: its parent process, the children it has reaped and those alive."""

    def __init__(self, parent: int | None) -> None:
        """Take the parent's process id; None is a server whose processes cannot be seen."""
        self.parent = parent

    @classmethod
    def postgres(cls, url: str) -> Self:
        """Find the parent of the server behind ``url``."""
        with psycopg.connect(url) as connection:
            row = connection.execute("select pg_backend_pid()").fetchone()
            assert row
            try:
                stat = Path(f"/proc/{row[0]}/stat").read_text()
            except OSError:
                return cls(None)  # the server is on another machine
        return cls(int(stat.rsplit(")", 1)[1].split()[1]))

    def now(self) -> float:
        """Return the CPU seconds so far; not a number when they cannot be seen."""
        if self.parent is None:
            return float("nan")
        total = proc_cpu(self.parent, children=True)
        with contextlib.suppress(OSError):
            alive = Path(f"/proc/{self.parent}/task/{self.parent}/children").read_text().split()
            total += sum(proc_cpu(int(pid)) for pid in alive)
        return total
