"""The command of an entry: cron's own options before it, and the percent signs in it."""

import re

from .found import Refused
from .lines import BLANKS

_OPTION = re.compile(rf"-([A-Za-z]+)(?:[{BLANKS}]+|$)")
_OPTIONS = {
    "n": "-n: nothing is mailed here, whether a command fails or not",
    "q": "-q: runs are events of their jobs, always",
    "s": "-s: that a run waits for the one before is the schedule's overlap policy",
}
_UNTIL_PERCENT = re.compile(r"(?:[^%\\]|\\.?)*", re.DOTALL)
_PERCENT = re.compile(r"\\%|%")


def without_options(command: str) -> tuple[str, list[str]]:
    """Return a command without the options that some crons take before it, and notes on these. Raises Refused."""
    notes = []
    while command.startswith("-"):
        found = _OPTION.match(command)
        if found is None or found[1] not in _OPTIONS:
            raise Refused(
                f"{command.split(maxsplit=1)[0][:40]!r} before the command is no option known here",
                "leave it out; a schedule's own settings replace such options",
            )
        notes.append(_OPTIONS[found[1]])
        command = command[found.end() :]
    return command, notes


def command_and_input(text: str) -> tuple[str, str | None]:
    """Return the command and its standard input, which begins after the first unescaped percent sign.

    Further percent signs are line feeds, escaped ones are percent signs, other backslashes stay; input that is not
    empty ends in a line feed. Raises Refused when there is no command.
    """
    found = _UNTIL_PERCENT.match(text)
    assert found is not None
    command = found[0].replace("\\%", "%")
    if not command.strip(BLANKS):
        raise Refused("there is no command", "complete the line, or make it a comment")
    if found.end() == len(text):
        return command, None
    given = _PERCENT.sub(lambda sign: "\n" if sign[0] == "%" else "%", text[found.end() + 1 :])
    return command, given + "\n" if given and not given.endswith("\n") else given
