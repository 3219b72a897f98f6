"""On a terminal: tables, and a question before a bulk operation."""

from collections.abc import Callable

import pytest

from support.commands import Commands
from support.terminals import on_a_terminal

Submit = Callable[..., int]


def test_a_terminal_gets_tables(fencepost: Commands, submit: Submit) -> None:
    """Without being asked, people get a table and programs get JSON."""
    submit("echo")
    code, screen = on_a_terminal(fencepost, "jobs", "list")
    assert code == 0
    assert "job_id" in screen
    assert '"job_id"' not in screen


@pytest.mark.parametrize(("typed", "left", "exit_code"), [("y\n", 0, 0), ("n\n", 2, 1), ("\n", 2, 1)])
def test_a_bulk_operation_asks_first(
    fencepost: Commands, submit: Submit, typed: str, left: int, exit_code: int
) -> None:
    """The question tells how many jobs; only a yes goes on, and anything else is exit code 1."""
    submit("echo")
    submit("echo")
    code, screen = on_a_terminal(fencepost, "jobs", "cancel", "--state", "pending", typed=typed)
    assert code == exit_code
    assert "cancel 2 jobs? [y/N]" in screen
    assert ("nothing was changed" in screen) is (left == 2)
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
