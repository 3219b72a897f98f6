"""One worker process with its children: what its handlers have seen, and its CPU time."""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from adapter import Adapter
from cpu import proc_cpu
from processes import end, signal_all, spawn

STOP_GRACE = 2.0
TAIL = 3_000


class Worker:
    """The other half of ``handler.Recorder``: they share a folder of small files."""

    def __init__(
        self, adapter: Adapter, profile: str = "best", mode: str = "noop", sleep: float = 30.0
    ) -> None:
        """Start the process; ``sleep`` is how many seconds a handler sleeps in the mode ``sleep``."""
        self.dir = Path(tempfile.mkdtemp(prefix=f"peer-{adapter.name}-"))
        self._helpers = adapter.helpers()
        environment = {
            "PEER_URL": adapter.url,
            "PEER_MODE": mode,
            "PEER_DIR": str(self.dir),
            "PEER_SLEEP": str(sleep),
            "PEER_PROFILE": profile,
            "NO_LOG_SUCCESS": "1",
        }
        with (self.dir / "log").open("wb") as log:
            self.process = spawn(adapter.worker_cmd(profile), log, environment)

    async def wait_ready(self, timeout: float = 30) -> int:
        """Wait until the worker is just before its loop; return the monotonic ns of that."""
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            for path in self.dir.glob("ready.*"):
                text = path.read_text()
                if text.endswith("\n"):
                    return int(text)
            if self.ended:
                break
            await asyncio.sleep(0.005)
        raise RuntimeError("worker not ready:\n" + self.tail())

    @property
    def ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self.process.poll() is not None

    def tail(self) -> str:
        """Return the end of what the worker has logged."""
        return (self.dir / "log").read_text(errors="replace")[-TAIL:]

    def count(self) -> int:
        """Return how many handlers have started."""
        total = 0
        for path in self.dir.glob("count.*"):
            with contextlib.suppress(ValueError):
                total += int(path.read_text() or 0)
        return total

    def stamps(self) -> list[tuple[int, int]]:
        """Return the starts of handlers: sequence number and monotonic ns."""
        lines = (line for path in self.dir.glob("stamp.*") for line in path.read_text().splitlines())
        return [(int(seq), int(ns)) for seq, ns in map(str.split, lines)]

    def cpu(self) -> float:
        """Return the CPU seconds of the worker, its children and the peer's helpers."""
        return sum(proc_cpu(pid) for pid in (*self._pids(), *self._helpers))

    def _pids(self) -> list[int]:
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    if os.getsid(int(folder.name)) == self.process.pid:
                        found.append(int(folder.name))
        return found

    def kill(self) -> None:
        """Kill the worker where it stands."""
        signal_all(self.process, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the worker when a measurement is over; what it leaves behind is dropped with the database."""
        end(self.process, STOP_GRACE)
        shutil.rmtree(self.dir, ignore_errors=True)
