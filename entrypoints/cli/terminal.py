"""What goes to stderr, and text that must not command the terminal."""

import re
import sys
from typing import TextIO

_COMMANDING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters of both sets, and those that turn the direction of writing."""


def printable(text: str) -> str:
    """Return text as one line that a terminal only shows: what would command it is escaped."""
    return _COMMANDING.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return known.get(character, f"\\u{ord(character):04x}")


def say(text: str) -> None:
    """Tell people something, beside the data."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody is looking; a closed stream is not a terminal."""
    return not stream.closed and stream.isatty()
