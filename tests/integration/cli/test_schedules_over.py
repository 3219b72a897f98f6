"""Schedules whose last fire time is behind them."""

from collections.abc import Callable
from typing import Any

from support.commands import Commands

Add = Callable[..., dict[str, Any]]
YEARLY = ("--cron", "@yearly", "--type", "report")


def test_of_a_schedule_that_is_over_it_is_said(fencepost: Commands, add: Add) -> None:
    """When it is added, edited so, and resumed; nothing is said of one that fires."""
    old = ("--start", "2001-01-01T00:00:00Z", "--end", "2009-01-01T00:00:00Z")
    over = "schedule a is over: no fire time is left before its end\n"
    added = fencepost.run("schedules", "add", "a", *YEARLY, *old)
    assert (added.returncode, added.stderr) == (0, over)
    fencepost.run("schedules", "pause", "a")
    add("b")
    resumed = fencepost.run("schedules", "resume", "a", "b")
    assert (resumed.returncode, resumed.stderr) == (0, over)
    assert fencepost.run("schedules", "edit", "a", "--end", "none").stderr == ""
