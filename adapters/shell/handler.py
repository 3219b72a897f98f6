"""The handler of ``shell.run``."""

from asyncio import CancelledError
from collections.abc import Mapping
from errno import E2BIG
from typing import Any

from ...application.context import Context
from ...application.handlers import Discard, Failed, Handler, Stopped
from ...application.shell import SHELL_RUN, ShellCommand, shell_command
from .guarded import Guarded
from .surroundings import check_user, directory, environment

GRACE = 3.0
"""Seconds from SIGTERM to SIGKILL: with the time to be sure less than a worker waits for a handler it has stopped."""
RESULT_BYTES = 16 * 1024
"""Of each stream: in JSON it stays below what a result may have, whatever the characters."""
ERROR_BYTES = 4 * 1024
"""Of both streams together."""
LEAST_STDOUT = 1024
EXIT_CODE = "exit_code"


def shell_handler(queue: str) -> Handler:
    """Return the handler; ``queue`` is one that its worker serves."""
    return Handler(type=SHELL_RUN, queue=queue, call=run, bind=_arguments)


async def run(ctx: Context, command: ShellCommand) -> dict[str, Any]:
    """Run a command line; an exit code other than 0 is a failure, with the end of what was written.

    When the attempt has to stop, so do the command and all that it has started.
    """
    check_user(command)
    variables = environment(ctx, command)
    guarded = Guarded(command, variables, directory(command, variables), GRACE)
    try:
        async with guarded:
            code = await guarded.ended()
    except CancelledError as error:
        raise Stopped(_last_words(guarded)) from error
    except OSError as error:
        if error.errno != E2BIG:
            raise
        raise Discard(_too_large(command, variables)) from error
    if code != 0:
        raise Failed(EXIT_CODE, f"exit code {code}", _last_words(guarded))
    return _result(guarded, code)


def _result(guarded: Guarded, code: int) -> dict[str, Any]:
    return {
        "exit_code": code,
        "stdout": guarded.stdout.text(RESULT_BYTES).replace("\x00", "\ufffd"),
        "stderr": guarded.stderr.text(RESULT_BYTES).replace("\x00", "\ufffd"),
        "stdout_bytes": guarded.stdout.bytes,
        "stderr_bytes": guarded.stderr.bytes,
    }


def _too_large(command: ShellCommand, variables: Mapping[str, str]) -> str:
    """Say what the system does not take, which no other attempt would change."""
    sizes = {name: len(f"{name}={text}".encode()) for name, text in variables.items()}
    sizes["the command line"] = len(command.command.encode())
    largest = max(sizes, key=sizes.__getitem__)
    return (
        "the system does not start a program with so large a command line and environment: "
        f"{sum(sizes.values())} bytes in all, most of them in {largest} ({sizes[largest]} bytes; Linux takes "
        "less than 128 KiB of each, and a quarter of the stack's limit in all)"
    )


def _arguments(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"command": shell_command(payload)}


def _last_words(guarded: Guarded) -> str | None:
    """Return the end of standard error, and of standard output as far as there is room for it."""
    stderr = guarded.stderr.text(ERROR_BYTES - LEAST_STDOUT)
    stdout = guarded.stdout.text(ERROR_BYTES - len(stderr.encode()))
    parts = [f"{name}:\n{text}" for name, text in (("stderr", stderr), ("stdout", stdout)) if text]
    return "\n".join(parts) or None
