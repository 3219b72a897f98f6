"""Percent signs: where a command ends and its standard input begins."""

import pytest

from fencepost.application.crontab.reading import read_crontab


def parts(text: str) -> tuple[str, str | None]:
    """Return command and standard input of an entry with this text behind its times."""
    (entry,) = read_crontab(f"0 0 * * * {text}\n", format="user").entries
    return entry.command, entry.stdin


@pytest.mark.parametrize(
    ("text", "command", "stdin"),
    [
        ("cat", "cat", None),
        ("cat%", "cat", ""),
        ("cat%hello", "cat", "hello\n"),
        ("cat%hello%", "cat", "hello\n"),
        ("cat%%", "cat", "\n"),
        ("cat%one%%three", "cat", "one\n\nthree\n"),
        ("cat % one", "cat ", " one\n"),
        (r"date +\%F", "date +%F", None),
        (r"date +\%F%in", "date +%F", "in\n"),
        (r"cat%50\% off", "cat", "50% off\n"),
        (r"printf 'a\nb'", r"printf 'a\nb'", None),
        (r"cat%a\nb", "cat", "a\\nb\n"),
        (r"say a\\%in", r"say a\\", "in\n"),
        (r"say a\\\%b", r"say a\\%b", None),
        (r"cat%a\\%b", "cat", "a\\%b\n"),
        ("say \\", "say \\", None),
        ("cat%a\\", "cat", "a\\\n"),
    ],
)
def test_a_percent_sign_ends_the_command(text: str, command: str, stdin: str | None) -> None:
    """The first unescaped one begins the input, further ones end its lines, escaped ones are themselves."""
    assert parts(text) == (command, stdin)


def test_standard_input_is_noted() -> None:
    """Many who write a percent sign do not mean it."""
    found = read_crontab("0 0 * * * date +%F > today\n")
    assert [(entry.command, entry.stdin) for entry in found.entries] == [("date +", "F > today\n")]
    assert "%" in found.notes[0].text


def test_an_escaped_percent_sign_needs_no_note() -> None:
    """It means the same everywhere."""
    assert read_crontab("0 0 * * * date +\\%F\n").notes == ()


def test_input_without_a_command_is_refused() -> None:
    """There would be nothing to run."""
    (refusal,) = read_crontab("0 0 * * * %hello\n").refusals
    assert refusal.reason == "there is no command"
