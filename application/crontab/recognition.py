"""Whether a crontab is a user's or the system's, when nobody says so."""

import re
from collections.abc import Sequence

from .found import Format, Refused
from .lines import BLANKS
from .shape import may_be_user, times_and_rest, words

_COMMENT_CHARACTERS = 500
"""As far as a comment is looked at."""
_USER_COLUMN = re.compile(
    rf"#.*(?:\bdow|\bweek|\*)[{BLANKS}]+user(?:[-_]?name)?[{BLANKS}]+(?:command|cmd)\b", re.IGNORECASE
)
_ACCOUNTS = frozenset(
    {
        "root",
        "nobody",
        "daemon",
        "www-data",
        "apache",
        "wwwrun",
        "postgres",
        "munin",
        "amavis",
        "debian-spamd",
    }
)
"""Users of system services whose names are hardly ever those of programs."""
_BEGINS_COMMAND = re.compile(r"""[\w./~$"'`(\[{!:]""")
_ONLY_IN_SHELLS = frozenset({"[", "[[", "(", "{", "if", "cd", "!"})
"""What begins a command and is hardly ever an argument."""


def recognised(lines: Sequence[str], entries: Sequence[str]) -> Format:
    """Return the format of a crontab with these lines, of which these are entries.

    It is the system's when a comment heads a column of users, when a well-known account stands where a user would, or
    when every entry has one word before what can only begin a command; a user's in all other cases.
    """
    if any(_USER_COLUMN.match(line.lstrip(BLANKS)[:_COMMENT_CHARACTERS]) for line in lines):
        return "system"
    found = _users(entries)
    if any(user in _ACCOUNTS for user, _ in found):
        return "system"
    plain = bool(found) and all(user is not None and word in _ONLY_IN_SHELLS for user, word in found)
    return "system" if plain else "user"


def could_name_users(entries: Sequence[str]) -> bool:
    """Tell whether every entry has a word that could be a user's name, and a command after it."""
    found = _users(entries)
    return bool(found) and all(user is not None for user, _ in found)


def _users(entries: Sequence[str]) -> list[tuple[str | None, str]]:
    """Return, for each entry with a command, the word that could be a user's name, and the next one."""
    found: list[tuple[str | None, str]] = []
    for entry in entries:
        try:
            _, rest = times_and_rest(entry)
        except Refused:
            continue
        first, second = (*words(rest, 3), "")[:2]
        is_named = may_be_user(first) and _BEGINS_COMMAND.match(second) is not None
        found.append((first if is_named else None, second))
    return found
