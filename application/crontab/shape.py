"""Entries in their parts: the times, the user in a system crontab, and the command."""

import re

from .found import Refused
from .lines import BLANKS
from .settings import misquoted, name_of_setting, setting

FIELDS = 5
_COMPLETE = "complete the line, or make it a comment"
_BLANK = re.compile(f"[{BLANKS}]+")
_SIXTH_FIELD = re.compile(rf"\*|\?(?:[{BLANKS}]|$)")
_ANACRON = re.compile(
    rf"([0-9]+|@[a-z]+)[{BLANKS}]+[0-9]+[{BLANKS}]+(?![Ll][^a-z])[A-Za-z][^{BLANKS}]*[{BLANKS}]"
)
"""Where a crontab would have a day of the month, an anacrontab has a name."""
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,255}\$?")


def words(text: str, most: int) -> list[str]:
    """Return the first words of a text and, as the last of ``most``, all the rest of it."""
    return _BLANK.split(text, maxsplit=most - 1)


def times_and_rest(line: str) -> tuple[str, str]:
    """Return an entry's times, with single spaces, and all that follows them; neither is empty. Raises Refused.

    A ``-`` before the times, which keeps runs out of cron's own log, is dropped.
    """
    if name_of_setting(line) is not None and setting(line) is None:
        raise misquoted()
    line = line.removeprefix("-").lstrip(BLANKS)
    count = 1 if line.startswith("@") else FIELDS
    *times, rest = parts if len(parts := words(line, count + 1)) > count else [line, ""]
    if not rest and count == 1:
        raise Refused(f"there is no command after {line[:40].strip()}", _COMPLETE)
    if not rest:
        raise Refused("a line needs five time fields and a command", _COMPLETE)
    if _ANACRON.match(line):
        raise Refused(
            "this is a line of an anacrontab: a period, a delay in minutes, a name and a command",
            "write the time of day in five fields, and leave out delay and name",
        )
    if _SIXTH_FIELD.match(rest):
        raise Refused("there are more than five time fields", "leave out seconds and years")
    return " ".join(times), rest


def may_be_user(word: str) -> bool:
    """Tell whether a word has the form of a user's name."""
    return _USER.fullmatch(word) is not None


def user_and_command(rest: str) -> tuple[str, str]:
    """Return the parts of what follows the times in a system crontab. Raises Refused."""
    user, *command = words(rest, 2)
    if not may_be_user(user):
        raise Refused(
            f"{user[:40]!r} is no user name: a system crontab names one between the times and the command",
            "name the user, or read the file as a user's crontab",
        )
    if not command or not command[0]:
        raise Refused(
            f"there is no command after the user name {user[:40]!r}",
            "complete the line, or read the file as a user's crontab",
        )
    return user, command[0]
