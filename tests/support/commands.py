"""Running `fencepost`: as a process, or where that asserts the same, by calling its main() in this one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from support.calling import call
from support.polling import eventually

COMMAND = (sys.executable, "-m", "fencepost.entrypoints.cli")


@attrs.frozen
class Running:
    """A command that goes on; what it logs is kept in a file."""

    process: subprocess.Popen[str]
    log: Path

    def said(self, text: str, times: int = 1, within: float = 20.0) -> str:
        """Wait until it has logged something, so many times, and return all it logged."""

        def look() -> str | None:
            logged = self.log.read_text()
            enough = logged.count(text) >= times
            assert enough or self.process.poll() is None, f"ended without saying {text!r}: {logged}"
            return logged if enough else None

        found = eventually(look, within=within)
        assert found is not None
        return found

    def ask(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def interrupt(self) -> None:
        """Do what Ctrl-C does: a terminal interrupts the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def code(self, within: float = 20.0) -> int:
        """Wait for its end and return the exit code."""
        return self.process.wait(within)

    def stop(self, within: float = 20.0) -> int:
        """Ask it to stop and return its exit code."""
        self.ask()
        return self.code(within)


@attrs.frozen
class Commands:
    """`fencepost` in one folder and environment."""

    folder: Path
    environment: Mapping[str, str]
    _started: list[Running] = attrs.field(factory=list)

    def having(self, **environment: str) -> "Commands":
        """The same with more environment."""
        return attrs.evolve(self, environment={**self.environment, **environment})

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in this process."""
        return call(arguments, self.folder, self.environment, stdin)

    def process(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as a process."""
        return subprocess.run(
            [*COMMAND, *arguments],
            check=False,
            cwd=self.folder,
            env=dict(self.environment),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def lines(self, *arguments: str, stdin: str = "") -> list[dict[str, Any]]:
        """Run a command that must succeed and return its records."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def json(self, *arguments: str, stdin: str = "") -> dict[str, Any]:
        """Run a command that must succeed and return its one record."""
        [record] = self.lines(*arguments, stdin=stdin)
        return record

    def start(self, *arguments: str) -> Running:
        """Start a command that goes on."""
        log = self.folder / f"log-{len(self._started)}"
        with log.open("w") as stderr:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                process_group=0,  # as a shell does
            )
        running = Running(process, log)
        self._started.append(running)
        return running

    def worker(self, *arguments: str) -> Running:
        """Start a worker for the test's app and wait until it works."""
        worker = self.start("worker", "shop:app", *arguments)
        worker.said("worker started")
        return worker

    def marks(self) -> list[str]:
        """What handlers wrote down."""
        file = self.folder / "marks"
        return file.read_text().splitlines() if file.exists() else []

    def kill(self) -> None:
        """Leave nothing behind."""
        for running in self._started:
            if running.process.poll() is None:
                running.process.kill()
            running.process.wait()
            if running.process.stdout is not None:
                running.process.stdout.close()
