"""What cannot be taken over is refused line by line, with a reason and what to do instead."""

import pytest

from fencepost.application.crontab.found import Refusal
from fencepost.application.crontab.lines import LINE_CHARACTERS
from fencepost.application.crontab.reading import read_crontab


def refusal(line: str) -> Refusal:
    """Return the refusal of a crontab with one line."""
    found = read_crontab(f"{line}\n", format="user")
    assert found.entries == ()
    (only,) = found.refusals
    return only


@pytest.mark.parametrize("alias", ["@reboot", "@Reboot"])
def test_starts_of_a_machine_are_refused(alias: str) -> None:
    """Jobs run on any of many machines."""
    found = refusal(f"{alias} x")
    assert "@reboot is no time" in found.reason
    assert found.instead is not None
    assert "systemd" in found.instead


@pytest.mark.parametrize("times", ["~ 3 * * *", "0~30 3 * * *", "0 ~4 * * *", "0 3 1~ * *"])
def test_random_times_are_refused(times: str) -> None:
    """Two readings of them would differ."""
    found = refusal(f"{times} x")
    assert "draws anew" in found.reason
    assert found.instead is not None
    assert "jitter" in found.instead


@pytest.mark.parametrize("line", ["0 0 12 * * * x", "0 0 0 1 1 */2 x", "0 0 12 * * ? x", "0 0 1 1 * ?"])
def test_more_than_five_fields_are_refused(line: str) -> None:
    """A command never begins like a field."""
    assert "more than five" in refusal(line).reason


@pytest.mark.parametrize(
    "line", ["hello", "0 0 * * *", "0 0 * * * ", "0 0 * * x", "@", "@daily", "@daily \t", "-"]
)
def test_lines_without_all_their_parts_are_refused(line: str) -> None:
    """Nobody can guess the rest."""
    assert refusal(line).instead == "complete the line, or make it a comment"


@pytest.mark.parametrize(
    "times",
    [
        "61 * * * *",
        "0 22-4 * * *",
        "0 0 30 2 *",
        "H * * * *",
        "*/90 * * * *",
        "@fortnightly",
        "@every",
        "0 0 * * Sonntag",
    ],
)
def test_times_that_no_schedule_has_are_refused_with_the_grammars_reason(times: str) -> None:
    """It says what to write."""
    found = refusal(f"{times} x")
    assert found.reason
    assert found.instead is None


@pytest.mark.parametrize("option", ["-x", "-nq", "-", "--", "-n5"])
def test_unknown_options_before_the_command_are_refused(option: str) -> None:
    """They would reach the shell as a command."""
    assert "no option" in refusal(f"0 0 * * * {option} x").reason


def test_an_option_without_a_command_is_refused() -> None:
    """There would be nothing to run."""
    assert refusal("0 0 * * * -n").reason == "there is no command"


def test_a_nul_character_is_refused() -> None:
    """No program can be given one."""
    found = refusal("0 0 * * * say \x00")
    assert "NUL" in found.reason
    assert "\x00" not in found.text


def test_bytes_that_are_not_utf_8_are_refused_with_their_line_alone() -> None:
    """The other lines are read; in comments such bytes do no harm."""
    raw = b"# gr\xfc\xdfe\n0 0 * * * say gr\xfc\xdfe\n0 1 * * * say hello\n"
    found = read_crontab(raw.decode("utf-8", "surrogateescape"))
    assert [entry.line for entry in found.entries] == [3]
    assert [(each.line, each.reason) for each in found.refusals] == [(2, "the line is not UTF-8")]
    found.refusals[0].text.encode()


def test_letters_of_other_alphabets_are_welcome() -> None:
    """In commands, values and comments."""
    found = read_crontab("A=å\n0 0 * * * say 'grüße 🌍'\n")
    assert (found.entries[0].command, found.entries[0].environment) == ("say 'grüße 🌍'", {"A": "å"})


def test_a_line_that_is_too_long_is_refused_and_shown_cut() -> None:
    """One that is not by one character is read, though Debian's cron would not."""
    line = "0 0 * * * say ".ljust(LINE_CHARACTERS, "x")
    assert len(read_crontab(f"{line}\n").entries) == 1
    found = refusal(line + "x")
    assert str(LINE_CHARACTERS) in found.reason
    assert len(found.text) <= 500


def test_a_refusal_shows_its_line() -> None:
    """As it stands in the file, without what leads it."""
    assert refusal("  61 * * * * x").text == "61 * * * * x"


def test_one_bad_line_does_not_stop_the_others() -> None:
    """All is told at once."""
    found = read_crontab("0 0 * * * a\n61 * * * * b\n@reboot c\n0 1 * * * d\n", format="user")
    assert [entry.command for entry in found.entries] == ["a", "d"]
    assert [each.line for each in found.refusals] == [2, 3]
