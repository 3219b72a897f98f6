"""Command lines as jobs: what a payload of type ``shell.run`` says."""

import re
from collections.abc import Mapping
from typing import Any

from attrs import asdict, field, frozen

from ..domain.errors import InvalidInput

SHELL_RUN = "shell.run"
"""The type; only workers that were told to allow it have a handler for it."""
SHELL = "/bin/sh"
COMMAND_CHARACTERS = 32_768
"""In any encoding of them less than Linux allows for one argument of a program, 128 KiB."""
VARIABLES = 200
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@frozen(kw_only=True)
class ShellCommand:
    """A command line, and what it is run with.

    ``directory`` None means the home of the user, as ``environment`` or else the system names it. ``user`` is who the
    worker must run as, None for anybody. ``source`` says where the command comes from; nothing follows from it.
    """

    command: str
    stdin: str | None = None
    environment: Mapping[str, str] = field(factory=dict)
    shell: str = SHELL
    directory: str | None = None
    user: str | None = None
    source: str | None = None

    def payload(self) -> dict[str, Any]:
        """Return the payload that ``shell_command`` reads; what goes without saying is left out."""
        said = {**asdict(self, recurse=False), "environment": dict(sorted(self.environment.items()))}
        if self.shell == SHELL:
            del said["shell"]
        return {name: value for name, value in said.items() if value is not None and value != {}}


def shell_command(payload: Mapping[str, Any]) -> ShellCommand:
    """Return what a payload says; raises InvalidInput naming the member and the rule."""
    members = dict(payload)
    environment = _environment(members.pop("environment", None))
    texts = {name: _text(name, members.pop(name, None)) for name in _TEXTS}
    if members:
        raise InvalidInput(f"payload.{min(members)}", f"is no member of a {SHELL_RUN} payload")
    command = texts.pop("command")
    if command is None or not command.strip():
        raise InvalidInput("payload.command", "must be given: a command line for the shell")
    for name in ("shell", "directory"):
        if (path := texts[name]) is not None and not path.startswith("/"):
            raise InvalidInput(f"payload.{name}", "must be an absolute path")
    shell = texts.pop("shell") or SHELL
    return ShellCommand(command=command, shell=shell, environment=environment, **texts)


_TEXTS = {
    "command": COMMAND_CHARACTERS,
    "stdin": None,
    "shell": 1_000,
    "directory": 1_000,
    "user": 256,
    "source": 1_000,
}
"""The members that are texts, with their most characters; only the payload's own limit bounds standard input."""


def _text(name: str, value: object) -> str | None:
    most = _TEXTS[name]
    if value is None:
        return None
    if not isinstance(value, str) or "\x00" in value:
        raise InvalidInput(f"payload.{name}", "must be text without NUL characters")
    if most is not None and len(value) > most:
        raise InvalidInput(f"payload.{name}", f"must have at most {most} characters")
    return value


def _environment(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > VARIABLES:
        raise InvalidInput(
            "payload.environment", f"must be an object of texts, with at most {VARIABLES} members"
        )
    for name, text in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput("payload.environment", f"{str(name)[:40]!r} cannot be the name of a variable")
        if not isinstance(text, str) or "\x00" in text or len(text) > COMMAND_CHARACTERS:
            raise InvalidInput(
                f"payload.environment.{name}",
                f"must be text of at most {COMMAND_CHARACTERS} characters, without NUL characters",
            )
    return dict(value)
