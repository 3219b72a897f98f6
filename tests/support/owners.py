"""Processes that own an embedded server, to be killed."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import attrs

PROGRAM = """
import json, sys, threading
from fencepost.adapters.embedded import EmbeddedPostgres
order = json.loads(sys.argv[1])
running = None
def start():
    global running
    running = EmbeddedPostgres(**order).start()
{start}
print(json.dumps(dict(dsn=running.dsn, pid=running.pid, adopted=running.adopted)), flush=True)
sys.stdin.read()
"""


@attrs.frozen
class Owner:
    """A process that has started, or is starting, a server."""

    process: subprocess.Popen[str]

    def running(self) -> dict[str, Any]:
        """What its start returned."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def kill(self) -> None:
        """End the process the hard way."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """Let the process end by itself."""
        self.process.communicate()


def own(datadir: Path, *, start: str = "start()", **order: object) -> Owner:
    """Start a process that starts a server in the way `start` says and then waits."""
    program = textwrap.dedent(PROGRAM).format(start=textwrap.dedent(start))
    command = [sys.executable, "-c", program, json.dumps({"datadir": str(datadir), **order})]
    return Owner(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
