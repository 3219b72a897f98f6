"""The `fencepost` command: a table of commands by import path, so that ``--help`` loads none of them."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import __version__
from .exits import FAILED, INTERRUPTED, OK, USAGE, exit_code, sentence
from .terminal import is_terminal, say

if TYPE_CHECKING:
    from cyclopts import App

RUN = "Run"
DATA = "Look and operate"
COMMANDS = (
    (RUN, "run.up:up", "Run everything on an embedded PostgreSQL: API, scheduler, workers."),
    (RUN, "run.worker:worker", "Run the jobs of an app."),
    (RUN, "run.scheduler:scheduler", "Fire schedules and end expired leases; run as many as you like."),
    (RUN, "run.api:api", "Serve the HTTP API."),
    (RUN, "run.bench:bench", "Measure Fencepost on your database, in a schema that is gone afterwards."),
    (RUN, "..demo.command:demo", "Watch jobs, crashes and recovery on an embedded PostgreSQL."),
    (DATA, "jobs:jobs", "Submit, list, show, wait for, cancel, requeue, edit and revoke jobs."),
    (DATA, "dead:dead", "Work through the dead letters."),
    (DATA, "queues:queues", "List, pause and resume queues."),
    (DATA, "schedules:schedules", "Add, list, edit, pause and trigger schedules; see when they fire."),
    (DATA, "audit:audit", "Read the history, and verify it."),
    (DATA, "db:db", "Bring the database's schema up to date."),
    (DATA, "config:config", "Show the settings in force."),
)


def build() -> "App":
    """Return the command line with every command still unloaded."""
    from cyclopts import App  # noqa: PLC0415 - takes long enough to be interrupted: main() must be there first

    app = App(
        name="fencepost",
        help="A distributed job scheduler on PostgreSQL that can prove what it did.",
        version=__version__,
        help_format="plaintext",
        help_formatter="default" if is_terminal(sys.stdout) else "plain",
    )
    for group, path, text in COMMANDS:
        app.command(_absolute(path), group=group, help=text)
    return app


def _absolute(path: str) -> str:
    package = str(__package__)
    if path.startswith(".."):
        return f"{package.rpartition('.')[0]}.{path[2:]}"
    return f"{package}.{path}"


def main() -> None:
    """Run the command line and leave with its exit code; Ctrl-C while something is imported leaves quietly, too."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every expected failure is one line on stderr."""
    from cyclopts import CycloptsError  # noqa: PLC0415 - as in build

    try:
        code = build()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        from .misuse import told  # noqa: PLC0415 - as in build

        say(f"error: {' '.join(told(error).split())}")
        return USAGE
    except BrokenPipeError:  # the reader has left; the interpreter must not try to tell it more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:  # noqa: BLE001 - exit_code raises what is not expected
        code = exit_code(error)
        say(f"error: {sentence(error)}")
        return code
    return code if isinstance(code, int) else OK
