"""On a terminal: tables, and a question before a bulk operation."""

import os
import pty
import subprocess
import termios
from collections.abc import Callable

import pytest

from support.commands import COMMAND, Commands

Submit = Callable[..., int]


def on_a_terminal(
    fencepost: Commands, *arguments: str, typed: str = "", stop_at: str = ""
) -> tuple[int, str]:
    """Run a command with a terminal on all three streams; returns its exit code and what the screen shows.

    ``stop_at`` is the text on the screen at which it is told to stop.
    """
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=fencepost.folder,
        env={**fencepost.environment, "TERM": "xterm", "COLUMNS": "160"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    screen = b""
    try:
        while part := os.read(ours, 4096):
            screen += part
            if stop_at and stop_at in screen.decode(errors="replace"):
                process.terminate()
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    return process.wait(30), screen.decode()


def test_a_terminal_gets_tables(fencepost: Commands, submit: Submit) -> None:
    """Without being asked, people get a table and programs get JSON."""
    submit("echo")
    code, screen = on_a_terminal(fencepost, "jobs", "list")
    assert code == 0
    assert "job_id" in screen
    assert '"job_id"' not in screen


@pytest.mark.parametrize(("typed", "left"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_bulk_operation_asks_first(fencepost: Commands, submit: Submit, typed: str, left: int) -> None:
    """The question tells how many jobs; only a yes goes on."""
    submit("echo")
    submit("echo")
    code, screen = on_a_terminal(fencepost, "jobs", "cancel", "--state", "pending", typed=typed)
    assert code == 0
    assert "cancel 2 jobs? [y/N]" in screen
    assert len(fencepost.lines("jobs", "list", "--state", "pending")) == left


def test_a_job_cannot_command_the_terminal(fencepost: Commands) -> None:
    """Escape sequences in a type's payload reach the screen as text."""
    fencepost.run("jobs", "submit", "echo", "--payload", '{"a": "\\u001b]0;pwned\\u0007"}')
    _, screen = on_a_terminal(fencepost, "jobs", "show", "1")
    assert "\\u001b]0;pwned\\u0007" in screen
    assert "\x1b]0;" not in screen


def test_a_terminal_gets_logs_for_people(bare: Commands) -> None:
    """On a terminal a log line is no JSON."""
    away = bare.having(FENCEPOST_DATABASE_URL="postgresql://127.0.0.1:1/jobs")
    code, screen = on_a_terminal(away, "scheduler", stop_at="out of reach")
    assert code == 0
    assert '"event"' not in screen
