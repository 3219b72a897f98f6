"""Processes for the length of a block: each is what an operator would start, and can be killed like it."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import define, field

STOP_WITHIN = 20.0
"""Seconds a process gets to end after SIGTERM."""


@define
class Fleet:
    """Processes that end with this one, in whatever way it ends. Their output goes to files in ``logs``."""

    environment: Mapping[str, str]
    logs: Path
    _running: dict[str, subprocess.Popen[bytes]] = field(factory=dict)

    def start(self, name: str, *arguments: str) -> int:
        """Start ``fencepost <arguments>`` and return its process id."""
        command = [sys.executable, "-m", "fencepost.entrypoints.tied", name, *arguments]
        with (self.logs / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # held open: it ends when we do
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,  # Ctrl-C reaches it through us
            )
        self._running[name] = process
        return process.pid

    def log(self, name: str) -> Path:
        """Return where a process's output goes."""
        return self.logs / f"{name}.log"

    def last_words(self, lines: int = 5) -> str:
        """Return the last lines of every log: what to look at when something went wrong."""
        tails = {
            path.stem: path.read_text(errors="replace").splitlines()[-lines:] for path in self.logs.iterdir()
        }
        return "\n".join(f"{name}: {line}" for name, tail in sorted(tails.items()) for line in tail)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal; SIGKILL also waits until the process is gone."""
        self._running[name].send_signal(number)
        if number is signal.SIGKILL:
            _waited(self._running.pop(name))

    def ended(self) -> dict[str, int]:
        """Return the processes that ended by themselves, with their exit codes."""
        codes = {name: process.poll() for name, process in self._running.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def stop(self) -> dict[str, int]:
        """Stop what still runs with SIGTERM, kill what does not obey, and return the exit codes."""
        for process in self._running.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        codes = {name: _waited(process) for name, process in self._running.items()}
        self._running.clear()
        return codes


def _waited(process: subprocess.Popen[bytes]) -> int:
    assert process.stdin is not None
    with process.stdin:  # closed at the end
        try:
            return process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


@contextmanager
def fleet(environment: Mapping[str, str]) -> Iterator[Fleet]:
    """Yield a fleet whose processes never outlive the block."""
    with tempfile.TemporaryDirectory(prefix="fencepost-", ignore_cleanup_errors=True) as logs:
        crew = Fleet(environment, Path(logs))
        try:
            yield crew
        finally:
            crew.stop()
