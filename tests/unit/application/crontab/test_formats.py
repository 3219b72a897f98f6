"""System crontabs name users; a file shows which format it has, or the caller says."""

import pytest

from fencepost.application.crontab.reading import read_crontab
from fencepost.domain.errors import InvalidInput


def test_a_system_crontab_names_a_user_between_the_times_and_the_command() -> None:
    """With fields and with an alias."""
    found = read_crontab("5 0 * * *\troot\t /opt/report -v\n@daily www-data clean\n", format="system")
    assert [(entry.user, entry.command) for entry in found.entries] == [
        ("root", "/opt/report -v"),
        ("www-data", "clean"),
    ]


@pytest.mark.parametrize(
    "user", ["root", "www-data", "_apt", "debian-spamd", "svc$", "j.doe", "2fa", "ops@corp"]
)
def test_names_of_users_take_many_forms(user: str) -> None:
    """Directories of users have names that no local file would."""
    (entry,) = read_crontab(f"5 0 * * * {user} x\n", format="system").entries
    assert entry.user == user


@pytest.mark.parametrize("user", ["/opt/report", "root:wheel", "[", "*", "$USER", "-u"])
def test_what_is_no_user_is_refused_in_a_system_crontab(user: str) -> None:
    """Else the first word of the command would be lost."""
    assert len(read_crontab(f"5 0 * * * {user} x\n", format="system").refusals) == 1


@pytest.mark.parametrize("line", ["5 0 * * * root", "@daily root ", "5 0 * * * root %in"])
def test_a_user_without_a_command_is_refused(line: str) -> None:
    """There would be nothing to run."""
    (refusal,) = read_crontab(f"{line}\n", format="system").refusals
    assert "no command" in refusal.reason


@pytest.mark.parametrize(
    "text",
    [
        "17 * * * * root cd / && run-parts /etc/hours\n",
        "@daily www-data /usr/lib/clean\n",
        "# m h dom mon dow user\tcommand\n5 0 * * * somebody x\n",
        "# *  *  *  *  * user-name  command to be executed\n5 0 * * * somebody x\n",
        "5 0 * * * list [ -x /usr/bin/lists ] && lists digest\n",
        "SHELL=/bin/sh\n5 0 * * * somebody if test -x /opt/x; then /opt/x; fi\n",
        "-5 0 * * * root x\n",
    ],
)
def test_a_column_of_users_is_recognised(text: str) -> None:
    """By a heading, by a well-known account, or by what follows the word."""
    assert read_crontab(text).format == "system"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing but a comment\n",
        "A=b\n",
        "5 0 * * * /opt/report\n",
        "5 0 * * * php /opt/report.php\n",
        "5 0 * * * [ -x /opt/x ] && /opt/x\n",
        "5 0 * * * root -b -q histogram.C\n",
        "5 0 * * * root\n",
        "# m h  dom mon dow   command\n5 0 * * * backup /srv\n",
        "5 0 * * * say [ hello\n6 0 * * * /opt/report\n",
        "incomplete\n",
    ],
)
def test_everything_else_is_a_users(text: str) -> None:
    """The first word of a command must not be mistaken for a user."""
    assert read_crontab(text).format == "user"


def test_a_crontab_that_could_be_either_is_noted() -> None:
    """People can look at it and say which."""
    (note,) = read_crontab("# comment\nA=b\n5 0 * * * somebody report\n").notes
    assert note.line == 3
    assert "system crontab" in note.text


def test_nothing_is_noted_where_no_user_can_be_meant_or_the_caller_has_said() -> None:
    """A path is no name."""
    assert read_crontab("5 0 * * * somebody report\n6 0 * * * /opt/report\n").notes == ()
    assert read_crontab("5 0 * * * somebody report\n", format="user").notes == ()


def test_lines_without_a_user_are_refused_in_a_system_crontab_that_was_recognised() -> None:
    """They are not taken for commands of somebody."""
    found = read_crontab("5 0 * * * root a\n6 0 * * * /opt/report -v\n")
    assert [refusal.line for refusal in found.refusals] == [2]


def test_formats_are_three() -> None:
    """Anything else is the caller's mistake."""
    with pytest.raises(InvalidInput, match=r"^format: must be user, system or auto$"):
        read_crontab("", format="root")
