"""Entries of a crontab: times, command, and where they stand."""

import pytest

from fencepost.application.crontab.found import Entry
from fencepost.application.crontab.reading import read_crontab


def only(line: str, **options: str) -> Entry:
    """Return the entry of a crontab with one line."""
    found = read_crontab(line + "\n", **{"format": "user", **options})
    assert found.refusals == ()
    (entry,) = found.entries
    return entry


def test_five_fields_and_a_command_are_an_entry() -> None:
    """The simplest line there is."""
    entry = only("5 0 * * 1-5 /opt/report --daily")
    assert (entry.line, entry.expression, entry.command) == (1, "5 0 * * 1-5", "/opt/report --daily")
    assert (entry.user, entry.stdin, entry.zone, entry.environment) == (None, None, "UTC", {})


def test_blanks_and_tabs_separate_fields_and_lead_lines() -> None:
    """As many as people like, also between the times and the command."""
    entry = only(" \t 5\t0  *\t *  *   \t say  hello  you ")
    assert (entry.expression, entry.command) == ("5 0 * * *", "say  hello  you ")


@pytest.mark.parametrize("blank", ["\u00a0", "\x0b", "\x0c", "\u2003"])
def test_nothing_but_blanks_and_tabs_separates_fields(blank: str) -> None:
    """Other white space belongs to the field, which then is none."""
    assert len(read_crontab(f"5 0 * *{blank}* say hello\n").refusals) == 1


@pytest.mark.parametrize(
    "alias", ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]
)
def test_aliases_stand_for_the_five_fields(alias: str) -> None:
    """The command follows at once."""
    entry = only(f"{alias}\tsay hello")
    assert (entry.expression, entry.command) == (alias, "say hello")


def test_names_of_months_and_days_are_left_as_written() -> None:
    """They are the expression's own business."""
    assert only("0 4 1 JAN,jul Sun x").expression == "0 4 1 JAN,jul Sun"


def test_a_sharp_sign_later_in_a_line_belongs_to_the_command() -> None:
    """Only at the beginning of a line it makes a comment."""
    assert only("5 0 * * * say hello # politely").command == "say hello # politely"


def test_comments_and_blank_lines_say_nothing_but_are_counted() -> None:
    """Line numbers are those of the file."""
    found = read_crontab("# one\n\n \t\n  # four\n5 0 * * * five\n")
    assert [entry.line for entry in found.entries] == [5]
    assert found.refusals == ()


def test_a_backslash_continues_no_line() -> None:
    """The command ends with it, and what was meant to follow is a line of its own."""
    found = read_crontab("5 0 * * * say \\\nhello\n")
    assert [entry.command for entry in found.entries] == ["say \\"]
    assert [refusal.line for refusal in found.refusals] == [2]


def test_entries_come_in_the_order_of_the_file() -> None:
    """Whatever their times."""
    found = read_crontab("0 9 * * * late\n0 1 * * * early\n@daily midnight\n")
    assert [entry.command for entry in found.entries] == ["late", "early", "midnight"]


def test_the_zone_is_the_callers_unless_the_crontab_sets_one() -> None:
    """A crontab alone does not say whose clock it means."""
    assert only("5 0 * * * x", tz="Europe/Oslo").zone == "Europe/Oslo"


def test_a_dash_before_the_times_is_dropped_and_noted() -> None:
    """It only keeps runs out of a log that is not ours."""
    found = read_crontab("-*/5 * * * * quiet\n")
    assert [(entry.expression, entry.command) for entry in found.entries] == [("*/5 * * * *", "quiet")]
    assert "history" in found.notes[0].text


@pytest.mark.parametrize("option", ["-n", "-q", "-s", "-n  -q"])
def test_options_of_cron_before_the_command_are_dropped_and_noted(option: str) -> None:
    """They are no part of what the shell gets."""
    found = read_crontab(f"5 0 * * * {option} say hello\n")
    assert found.entries[0].command == "say hello"
    assert len(found.notes) == len(option.split())
