"""Payloads of `shell.run`: what they say, and what is refused."""

from typing import Any

import pytest

from fencepost.application.shell import COMMAND_CHARACTERS, VARIABLES, ShellCommand, shell_command
from fencepost.domain.errors import InvalidInput


def test_a_command_line_is_enough() -> None:
    """Everything else goes without saying, and is not written."""
    command = shell_command({"command": "echo hello"})
    assert command == ShellCommand(command="echo hello")
    assert (command.shell, command.payload()) == ("/bin/sh", {"command": "echo hello"})


def test_what_is_written_is_read_again() -> None:
    """Every member."""
    command = ShellCommand(
        command="cat",
        stdin="",
        environment={"B": "", "A": "x = y"},
        shell="/bin/bash",
        directory="/srv",
        user="ann",
        source="web1:/etc/crontab",
    )
    assert shell_command(command.payload()) == command
    assert list(command.payload()["environment"]) == ["A", "B"]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "command"),
        ({"command": None}, "command"),
        ({"command": " \t"}, "command"),
        ({"command": 5}, "command"),
        ({"command": ["ls", "-l"]}, "command"),
        ({"command": "a\x00b"}, "command"),
        ({"command": "x" * (COMMAND_CHARACTERS + 1)}, "command"),
        ({"command": "x", "stdin": 5}, "stdin"),
        ({"command": "x", "stdin": "\x00"}, "stdin"),
        ({"command": "x", "shell": "sh"}, "shell"),
        ({"command": "x", "shell": ""}, "shell"),
        ({"command": "x", "directory": "here"}, "directory"),
        ({"command": "x", "user": 0}, "user"),
        ({"command": "x", "source": "s" * 1_001}, "source"),
        ({"command": "x", "environment": []}, "environment"),
        ({"command": "x", "environment": {"": "x"}}, "environment"),
        ({"command": "x", "environment": {"A=B": "x"}}, "environment"),
        ({"command": "x", "environment": {"A": 5}}, "environment.A"),
        ({"command": "x", "environment": {"A": "\x00"}}, "environment.A"),
        ({"command": "x", "environment": {f"A{i}": "" for i in range(VARIABLES + 1)}}, "environment"),
        ({"command": "x", "cwd": "/"}, "cwd"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_command_is_refused_by_name(payload: dict[str, Any], field: str) -> None:
    """The member is named, and the rule is short."""
    with pytest.raises(InvalidInput) as caught:
        shell_command(payload)
    assert caught.value.field == f"payload.{field}"
    assert len(caught.value.rule) < 120
