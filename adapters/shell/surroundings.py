"""What a command finds around it: cron's few variables instead of the worker's own, which may hold secrets."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from ...application.context import Context
from ...application.handlers import Discard, Failed
from ...application.shell import ShellCommand
from ...domain.facts import instant

PATH = "/usr/bin:/bin"
NOWHERE = "/"


def environment(ctx: Context, command: ShellCommand) -> dict[str, str]:
    """Return the variables of a command: those of its user, those that tell the job, and its own above all."""
    user, home = _user()
    return {
        "PATH": PATH,
        "HOME": home,
        "LOGNAME": user,
        "USER": user,
        "SHELL": command.shell,
        "JOB_ID": str(ctx.job_id),
        "JOB_ATTEMPT": str(ctx.attempt),
        "JOB_SCHEDULED_FOR": instant(ctx.scheduled_for),
        "JOB_IDEMPOTENCY_KEY": ctx.idempotency_key,
        **command.environment,
    }


def directory(command: ShellCommand, variables: Mapping[str, str]) -> str:
    """Return where a command is run; raises Failed when it is not there."""
    path = command.directory or variables.get("HOME") or NOWHERE
    if not Path(path).is_dir():
        raise Failed("no_directory", f"there is no directory {path}")
    return path


def check_user(command: ShellCommand) -> None:
    """Raise Discard for a command of somebody else: no other attempt of this worker would do better."""
    user, _ = _user()
    if command.user not in (None, user):
        raise Discard(f"the command is to run as {command.user}, and this worker runs as {user}")


def _user() -> tuple[str, str]:
    """Return the name and the home of who runs the worker; a container's user may have no entry."""
    number = os.geteuid()
    try:
        entry = pwd.getpwuid(number)
    except KeyError:
        return str(number), os.environ.get("HOME") or NOWHERE
    return entry.pw_name, entry.pw_dir
