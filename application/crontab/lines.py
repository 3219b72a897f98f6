"""The lines of a crontab that mean something, each with its number, within bounds."""

import re
from collections.abc import Sequence

from ...domain.errors import InvalidInput
from .found import Refused

FILE_CHARACTERS = 4 * 1024 * 1024
LINES = 10_000
"""As many as Debian's ``crontab`` installs."""
LINE_CHARACTERS = 32_768
"""In any encoding of them less than Linux allows for one argument of a program, 128 KiB. Debian's cron stops at 998."""
BLANKS = " \t"
_NUL = "\x00"
_LONE = re.compile("[\ud800-\udfff]")


def split_lines(text: str) -> list[str]:
    """Return all lines, without their ends; raises InvalidInput for too much text.

    Only a line feed ends a line, as in cron: form feeds and their like belong to it.
    """
    if len(text) > FILE_CHARACTERS:
        raise InvalidInput("crontab", f"must have at most {FILE_CHARACTERS} characters; split the file")
    if text.count("\n") > LINES:
        raise InvalidInput("crontab", f"must have at most {LINES} lines; split the file")
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def active_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that are neither blank nor comments, without leading blanks, numbered from 1."""
    stripped = ((number, line.lstrip(BLANKS)) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def check_line(line: str) -> None:
    """Raise Refused for a line that no command could be made of."""
    if len(line) > LINE_CHARACTERS:
        raise Refused(
            f"the line has more than {LINE_CHARACTERS} characters",
            "put the command into a script and run that",
        )
    if _NUL in line:
        raise Refused("the line holds a NUL character", "remove it")
    if _LONE.search(line):
        raise Refused("the line is not UTF-8", "convert the file, for instance with iconv -f latin1 -t utf-8")
