"""Names for the schedules of a crontab: readable, unique in it, and the same at every reading."""

import re
from collections import Counter
from hashlib import sha256

from ...domain.errors import InvalidInput

PREFIX_PATTERN = r"[A-Za-z0-9._:/-]{0,64}"
_LONGEST_WORD = 40
_MARK = re.compile(r"-[0-9a-f]{8}(-[0-9]+)?\Z")
_WORD = re.compile(r"[^\s;&|<>()'\"`$=]+")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_TELL_NOTHING = frozenset(
    {"[", "[[", "!", "{", "if", "then", "test", "cd", "command", "exec", "sh", "bash", "env"}
)
_NO_PROGRAMS = ("/dev/", "/proc/", "/run/", "/sys/")
"""Where what commands are about never lies; many look there whether they are to do anything."""


class Names:
    """Gives each command a name from what it does, never from its line or its times: both may change."""

    def __init__(self, prefix: object) -> None:
        """Begin all names with this; raises InvalidInput."""
        if not isinstance(prefix, str) or not re.fullmatch(PREFIX_PATTERN, prefix):
            raise InvalidInput("prefix", f"must match {PREFIX_PATTERN}")
        self._prefix = prefix
        self._given: Counter[str] = Counter()

    def give(self, user: str | None, command: str, stdin: str | None) -> str:
        """Return the next name for a command; a second line with the same one gets a number behind it."""
        what = "\x00".join((user or "", command, stdin or ""))
        name = f"{self._prefix}{_telling(command)}-{sha256(what.encode()).hexdigest()[:8]}"
        self._given[name] += 1
        return name if self._given[name] == 1 else f"{name}-{self._given[name]}"


def mark(name: str) -> str:
    """Return what a given name says of its command whatever the prefix: the digest, and the number behind it."""
    found = _MARK.search(name)
    return name if found is None else found.group()


def _telling(command: str) -> str:
    """Return the word that tells most: the last part of the first path, else the first word of a program."""
    words = [word for word in _WORD.findall(command) if not word.startswith("-")]
    paths = [word for word in words if "/" in word.strip("/") and not word.startswith(_NO_PROGRAMS)]
    for word in (*paths, *(word for word in words if word not in _TELL_NOTHING)):
        if fit := _UNFIT.sub("-", word.rstrip("/").rpartition("/")[2]).strip("-._")[:_LONGEST_WORD]:
            return fit
    return "job"
