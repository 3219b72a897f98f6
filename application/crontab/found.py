"""What a crontab says: entries that can become schedules, refusals, and notes on what works differently here."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

Format = Literal["user", "system"]
"""Whether a line names the user of its command between the times and the command: only system crontabs do."""


@frozen
class Entry:
    """One line that runs a command."""

    line: int
    """Counted from 1."""
    name: str
    """A name for the schedule: the same at every reading, whatever the lines around it and its times."""
    expression: str
    """Five fields or an alias, which ``recurrence`` understands."""
    zone: str
    """The IANA name of the time zone of these times."""
    command: str
    """What the shell is given, with ``\\%`` read as ``%``."""
    stdin: str | None
    """The command's standard input; None when there is no unescaped ``%``."""
    user: str | None
    """Whom the command runs as under cron; None in a user's crontab."""
    environment: Mapping[str, str]
    """The settings in force at this line, among them PATH, SHELL and HOME if the crontab has them."""


@frozen
class Refusal:
    """One line that cannot be taken over."""

    line: int
    text: str
    """The line, cleaned and cut for showing."""
    reason: str
    instead: str | None = None
    """What to do about it; None when the reason says it."""


@frozen
class Note:
    """Something that was understood but works differently here."""

    line: int
    text: str


@frozen
class Crontab:
    """All of a crontab, in the file's order."""

    format: Format
    entries: Sequence[Entry]
    refusals: Sequence[Refusal]
    notes: Sequence[Note]


class Refused(Exception):
    """A line cannot be taken over; becomes a Refusal."""

    def __init__(self, reason: str, instead: str | None = None) -> None:
        """Say why, and what to do about it."""
        super().__init__(reason)
        self.reason, self.instead = reason, instead
