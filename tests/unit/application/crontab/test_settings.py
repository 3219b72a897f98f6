"""Settings of a crontab hold for the lines below them."""

import pytest

from fencepost.application.crontab.reading import read_crontab

ENTRY = "0 0 * * * x\n"


def environment(line: str) -> dict[str, str]:
    """Return what is in force below one line."""
    found = read_crontab(f"{line}\n{ENTRY}", format="user")
    assert found.refusals == ()
    return dict(found.entries[0].environment)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("A=b", "A", "b"),
        ("  A = b c  ", "A", "b c"),
        ("A\t=\tb", "A", "b"),
        ("A=", "A", ""),
        ("A=  ", "A", ""),
        ('A=""', "A", ""),
        ('A=" b "', "A", " b "),
        ("A=' b '  ", "A", " b "),
        ("A='say \"b\"'", "A", 'say "b"'),
        ('"A" = b', "A", "b"),
        ("'A'=b", "A", "b"),
        ("A=b=c", "A", "b=c"),
        ('A=it\'s "so"', "A", 'it\'s "so"'),
        ("PATH=$HOME/bin:$PATH", "PATH", "$HOME/bin:$PATH"),
        ("A=b\\", "A", "b\\"),
        ("A=50%", "A", "50%"),
    ],
)
def test_a_setting_is_a_name_an_equals_sign_and_the_rest(line: str, name: str, value: str) -> None:
    """Blanks around both go, matching quotes keep them; nothing is expanded."""
    assert environment(line) == {name: value}


def test_a_setting_holds_from_its_line_on_until_the_next_one() -> None:
    """Lines above keep what they had."""
    found = read_crontab(f"{ENTRY}A=1\n{ENTRY}B=2\nA=3\n{ENTRY}")
    assert [entry.environment for entry in found.entries] == [{}, {"A": "1"}, {"A": "3", "B": "2"}]


def test_an_equals_sign_in_a_command_sets_nothing() -> None:
    """A name stands before a setting's equals sign, not times."""
    found = read_crontab("0 0 * * * A=b run\n@daily A=b run\n")
    assert [entry.command for entry in found.entries] == ["A=b run", "A=b run"]


def test_the_zone_of_the_times_follows_cron_tz() -> None:
    """For the lines below it, until it is emptied: then they are the caller's again."""
    text = f"{ENTRY}CRON_TZ=Asia/Tokyo\n{ENTRY}CRON_TZ=\n{ENTRY}"
    found = read_crontab(text, tz="Europe/Oslo")
    assert [entry.zone for entry in found.entries] == ["Europe/Oslo", "Asia/Tokyo", "Europe/Oslo"]
    assert "Asia/Tokyo" in found.notes[0].text


def test_tz_is_only_passed_on() -> None:
    """It is the clock of the command, not of the times."""
    found = read_crontab(f"TZ=Asia/Tokyo\n{ENTRY}")
    assert (found.entries[0].zone, found.entries[0].environment) == ("UTC", {"TZ": "Asia/Tokyo"})
    assert "CRON_TZ" in found.notes[0].text


def test_a_zone_that_nobody_knows_refuses_the_lines_below() -> None:
    """Their times would be other ones; a zone that is known lets the next lines in again."""
    found = read_crontab(f"{ENTRY}CRON_TZ=Mars/Olympus\n{ENTRY}CRON_TZ=Asia/Tokyo\n{ENTRY}")
    assert [entry.line for entry in found.entries] == [1, 5]
    assert [refusal.line for refusal in found.refusals] == [2, 3]
    assert "line 2" in found.refusals[1].reason


def test_a_quoted_name_of_a_zone_that_nobody_knows_refuses_the_lines_below_too() -> None:
    """Quotes around the name change nothing."""
    found = read_crontab(f"'CRON_TZ'=Mars/Olympus\n{ENTRY}")
    assert [refusal.line for refusal in found.refusals] == [1, 2]


@pytest.mark.parametrize("line", ['A="b', 'A="b" # c', "A='b\"", '"A=b"', 'A="b" c'])
def test_quotes_that_do_not_match_are_refused(line: str) -> None:
    """So is a comment behind a quoted value: cron takes no such line."""
    found = read_crontab(f"{line}\n")
    assert [refusal.line for refusal in found.refusals] == [1]


def test_lines_below_a_setting_that_was_refused_are_refused() -> None:
    """Their commands would run without it."""
    found = read_crontab(f'A="b" # c\n{ENTRY}')
    assert "A in line 1" in found.refusals[1].reason


def test_a_comment_behind_an_unquoted_value_belongs_to_it_and_is_noted() -> None:
    """Few who write it mean that."""
    found = read_crontab(f"A=b # c\n{ENTRY}")
    assert found.entries[0].environment == {"A": "b # c"}
    assert "#" in found.notes[0].text


@pytest.mark.parametrize("line", ["1A=b", "A-B=c", "''=b", "Ä=b", "A.B=c"])
def test_names_that_no_variable_has_are_refused(line: str) -> None:
    """Shells could not use them."""
    assert [refusal.line for refusal in read_crontab(f"{line}\n").refusals] == [1]


@pytest.mark.parametrize("line", ["MAILTO=ops", 'MAILTO=""', "MAILFROM=cron", "CONTENT_TYPE=text/html"])
def test_mail_is_noted(line: str) -> None:
    """Nobody should wait for one."""
    (note,) = read_crontab(f"{line}\n{ENTRY}").notes
    assert note.line == 1
    assert "no mail is sent" in note.text


@pytest.mark.parametrize(
    "name", ["RANDOM_DELAY", "START_HOURS_RANGE", "PERSISTENT", "MLS_LEVEL", "XDG_SESSION_CLASS", "LOGNAME"]
)
def test_what_only_a_cron_does_is_noted(name: str) -> None:
    """Each with what to use instead, or that it does nothing."""
    (note,) = read_crontab(f"{name}=1\n{ENTRY}").notes
    assert name in note.text


def test_the_name_of_the_user_cannot_be_set() -> None:
    """Nor can it under cron."""
    assert environment("LOGNAME=somebody") == {}


def test_settings_are_bounded_in_number() -> None:
    """A hundred names are as many as anybody needs."""
    found = read_crontab("".join(f"A{n}=b\n" for n in range(101)))
    assert [refusal.line for refusal in found.refusals] == [101]


def test_settings_are_bounded_in_size() -> None:
    """Each entry carries all of them."""
    found = read_crontab(f"A={'x' * 10_000}\nB={'x' * 10_000}\n")
    assert [refusal.line for refusal in found.refusals] == [2]
