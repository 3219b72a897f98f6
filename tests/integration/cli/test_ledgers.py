"""`fencepost schedules firings`: a part of a ledger, and what a table tells."""

import re

import pytest

from support.commands import Commands
from support.polling import eventually

COMMAND = ("schedules", "firings", "a")


@pytest.fixture
def origin(fencepost: Commands) -> str:
    """A schedule that was triggered twice, the second time beside a job: returns the first trigger's origin."""
    fencepost.json("schedules", "add", "a", "--cron", "@yearly", "--type", "report")
    first = fencepost.json("schedules", "trigger", "a")
    fencepost.json("schedules", "trigger", "a", "--overlap", "skip")
    found: str = first["origin"]
    return found


def test_rows_are_chosen_by_outcome_reason_and_origin(fencepost: Commands, origin: str) -> None:
    """All given conditions hold; a page goes on where it ended."""
    for options, outcomes in {
        (): ["skipped", "fired"],
        ("--outcome", "fired"): ["fired"],
        ("--outcome", "fired", "--outcome", "skipped"): ["skipped", "fired"],
        ("--reason", "overlap"): ["skipped"],
        ("--reason", "asked", "--outcome", "skipped"): [],
        ("--origin", origin): ["fired"],
        ("--origin", "cron"): [],
    }.items():
        assert [row["outcome"] for row in fencepost.lines(*COMMAND, *options)] == outcomes, options
    page = fencepost.run(*COMMAND, "--outcome", "skipped", "--limit", "1")
    before = page.stderr.strip().rpartition(" ")[2]
    assert fencepost.lines(*COMMAND, "--outcome", "skipped", "--before", before) == []


def test_a_ledger_without_such_rows_is_not_one_that_never_was(fencepost: Commands, origin: str) -> None:
    """Exit code 0, also after the schedule was deleted, and 3."""
    fencepost.json("schedules", "delete", "a", "--yes")
    assert fencepost.run(*COMMAND, "--outcome", "queued").returncode == 0
    assert fencepost.run("schedules", "firings", "b", "--outcome", "queued").returncode == 3


def test_a_table_tells_how_late_decisions_were(fencepost: Commands) -> None:
    """Instead of the moment at which they were made, which programs get."""
    scheduler = fencepost.start("scheduler")
    scheduler.said("scheduler started")
    fencepost.json("schedules", "add", "a", "--cron", "every 1s", "--type", "tick", "--overlap", "allow")
    eventually(lambda: fencepost.lines(*COMMAND))
    fencepost.json("schedules", "pause", "a")
    newest = (*COMMAND, "--outcome", "fired", "--limit", "1")
    [row] = fencepost.lines(*newest)
    assert row["decided_at"] > row["fire_at"]
    assert "late" not in row
    heading, _, told = fencepost.run(*newest, "--output", "table").stdout.splitlines()
    late = told[heading.index("late") :].split()[0]
    assert re.fullmatch(r"[0-9]+m?s", late)
    shown = fencepost.run("schedules", "show", "a", "--output", "table").stdout
    assert f"fired: due, job {row['job_id']}, {late} late" in shown


@pytest.mark.parametrize(
    "options",
    [("--outcome", "done"), ("--reason", "why"), ("--origin", ""), ("--origin", "x" * 256)],
)
def test_a_bad_condition_is_named(bare: Commands, options: tuple[str, str]) -> None:
    """No database is needed to know."""
    done = bare.run(*COMMAND, *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert options[0].strip("-") in done.stderr
