"""Real processes of Fencepost, ended with the block or with the benchmark, in whatever way that ends."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attrs import frozen

from .asking import until

APPS = Path(__file__).parents[1] / "apps"
QUEUE = "bench"
SLOTS = 1_000
STOP_SECONDS = 20
TIED = """
from fencepost.entrypoints.cli.main import main
from fencepost.entrypoints.tied import tie
tie()
main()
"""


@frozen
class Process:
    """One running command."""

    popen: subprocess.Popen[bytes]
    log: IO[bytes]

    @property
    def pid(self) -> int:
        """The process id."""
        return self.popen.pid

    def alive(self) -> None:
        """Raise, with what the process said last, when it has ended."""
        if self.popen.poll() is not None:
            self.log.seek(0)
            said = self.log.read()[-3000:].decode(errors="replace")
            raise RuntimeError(f"a process ended with {self.popen.returncode}:\n{said}")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.popen.kill()
        self.popen.wait()


@contextmanager
def command(dsn: str, *arguments: str, settings: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run ``fencepost ARGUMENTS`` for the block; ``settings`` go into its environment."""
    chosen = {"database_url": dsn, **(settings or {})}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FENCEPOST_")}
    environment |= {f"FENCEPOST_{name.upper()}": value for name, value in chosen.items()}
    with tempfile.TemporaryFile() as log:
        popen = subprocess.Popen(
            [sys.executable, "-c", TIED, *arguments],
            cwd=APPS,
            env=environment,
            stdin=subprocess.PIPE,  # held open: it ends when we do
            stdout=log,
            stderr=log,
        )
        try:
            yield Process(popen, log)
        finally:
            _stop(popen)


@contextmanager
def worker(
    dsn: str,
    slots: int = SLOTS,
    *,
    app: str = "noop:app",
    queues: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Process]:
    """Run one worker process for the block; ``queues`` as on the command line, else one queue."""
    served = queues or f"{QUEUE}:{slots}"
    with command(dsn, "worker", app, "--queues", served, settings=settings) as process:
        yield process


def until_idle(dsn: str, process: Process, workers: int = 1) -> None:
    """Wait until so many workers listen and have nothing to do."""
    condition = f"(SELECT count(*) FILTER (WHERE idle) >= {workers} FROM fencepost.workers)"
    until(dsn, condition, alive=process.alive)


def _stop(popen: subprocess.Popen[bytes]) -> None:
    popen.terminate()
    try:
        popen.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()
    if popen.stdin is not None:
        popen.stdin.close()
