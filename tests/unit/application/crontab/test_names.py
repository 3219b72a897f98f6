"""Names of schedules: readable, unique in a crontab, and stable."""

import re

import pytest

from fencepost.application.crontab.reading import read_crontab
from fencepost.domain.errors import InvalidInput
from fencepost.domain.limits import NAME_PATTERN


def names(text: str, **options: str) -> list[str]:
    """Return the names of all entries, in order."""
    return [entry.name for entry in read_crontab(text, **options).entries]


def test_other_lines_and_other_times_leave_a_name_as_it_is() -> None:
    """A second reading of an edited file finds the same schedules."""
    before = names("0 0 * * * /opt/a\n0 1 * * * /opt/b\n")
    after = names("# new\nA=b\n0 2 * * * /opt/c\n@hourly /opt/b\n5 5 * * * /opt/a\n")
    assert after[1:] == [before[1], before[0]]


def test_each_command_has_its_own_name() -> None:
    """Other arguments, other input, another user: another name."""
    text = "0 0 * * * root a\n0 0 * * * root a b\n0 0 * * * root a%b\n0 0 * * * nobody a\n"
    assert len(set(names(text, format="system"))) == 4


def test_lines_with_the_same_command_are_numbered() -> None:
    """Their order tells them apart."""
    first, second, third = names("0 0 * * * /opt/a\n0 6 * * * /opt/a\n0 9 * * * /opt/a\n")
    assert (second, third) == (f"{first}-2", f"{first}-3")


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("/usr/local/bin/backup.sh --all", "backup.sh"),
        ("cd / && run-parts --report /etc/hours.d", "hours.d"),
        ("[ -x /usr/lib/php/clean ] && /usr/lib/php/clean", "clean"),
        ("command -v rotate > /dev/null && rotate now", "rotate"),
        ("test -d /var/spool/queue/ || exit 0", "queue"),
        ("date", "date"),
        ("'/opt/my app/run'", "my"),
        ("/opt/größe", "gr-e"),
        ("/", "job"),
        ("$(...)", "job"),
        ("[ ] && :", "job"),
        ("/opt/" + "x" * 100, "x" * 40),
    ],
)
def test_a_name_tells_what_runs(command: str, word: str) -> None:
    """The first path in a command, or the first word that is a program."""
    (name,) = names(f"0 0 * * * {command}\n", format="user")
    assert re.fullmatch(rf"crontab/{re.escape(word)}-[0-9a-f]{{8}}", name)


def test_names_begin_with_the_prefix_and_are_names_of_schedules() -> None:
    """Whatever the command."""
    found = names(
        "0 0 * * * /opt/" + "x" * 200 + "\n0 0 * * * 'ß'\n", prefix="host.example:" + "y" * 50 + "/"
    )
    assert all(name.startswith("host.example:") and re.fullmatch(NAME_PATTERN, name) for name in found)


@pytest.mark.parametrize("prefix", ["a b", "ä", "x" * 65, "a\n"])
def test_a_prefix_that_no_name_could_have_is_refused(prefix: str) -> None:
    """Before anything is read."""
    with pytest.raises(InvalidInput, match=r"^prefix: "):
        names("", prefix=prefix)


def test_no_prefix_is_one_too() -> None:
    """The name begins with the word then."""
    (name,) = names("0 0 * * * /opt/a\n", prefix="")
    assert name.startswith("a-")
