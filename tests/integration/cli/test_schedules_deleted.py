"""`fencepost schedules delete`: one or several, after a yes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.commands import Commands
from support.terminals import on_a_terminal

Add = Callable[..., dict[str, Any]]


def test_a_delete_needs_a_yes(fencepost: Commands, add: Add) -> None:
    """From a program as a flag, which is a usage error without it."""
    add("a")
    done = fencepost.run("schedules", "delete", "a")
    assert (done.returncode, done.stderr) == (2, "error: --yes: must be given to delete without a terminal\n")
    late = fencepost.run("schedules", "delete", "a", "--yes", "--version", "7")
    assert late.returncode == 4
    fencepost.json("schedules", "delete", "a", "--yes", "--version", "1")
    assert fencepost.lines("schedules", "list") == []


def test_several_schedules_are_deleted_each_by_itself(fencepost: Commands, add: Add) -> None:
    """Each name is answered; one that is not there holds up no other, and makes exit code 3."""
    for name in ("a", "b", "c"):
        add(name)
    done = fencepost.run("schedules", "delete", "a", "x", "b", "--yes")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"name": "a", "verdict": "accepted"},
        {"name": "x", "verdict": "gone"},
        {"name": "b", "verdict": "accepted"},
    ]
    assert (done.returncode, done.stderr) == (3, "error: there is no schedule x\n")
    assert [one["name"] for one in fencepost.lines("schedules", "list")] == ["c"]


def test_the_question_before_a_delete_names_all_that_are_there(fencepost: Commands, add: Add) -> None:
    """And no other; no is no for all of them."""
    add("a")
    add("b")
    code, screen = on_a_terminal(fencepost, "schedules", "delete", "a", "x", "b", typed="n\n")
    assert "delete 2 schedules: a, b? [y/N]" in screen
    assert (code, len(fencepost.lines("schedules", "list"))) == (1, 2)


@pytest.mark.parametrize(("typed", "left"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_delete_on_a_terminal_asks_first(fencepost: Commands, add: Add, typed: str, left: int) -> None:
    """Only a yes goes on; anything else is exit code 1, and says that nothing was changed."""
    add("a")
    code, screen = on_a_terminal(fencepost, "schedules", "delete", "a", typed=typed)
    assert (code, "nothing was changed" in screen) == (left, left == 1)
    assert "delete schedule a? [y/N]" in screen
    assert len(fencepost.lines("schedules", "list")) == left
