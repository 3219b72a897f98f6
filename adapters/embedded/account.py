"""The operating system user the server runs as: never root, and never one we would have to create."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import attrs

from .errors import NoUnprivilegedUser

PREFERRED = ("postgres", "nobody")


class Identity(TypedDict, total=False):
    """The part of `subprocess.Popen` that says as whom to run."""

    user: int
    group: int
    extra_groups: Sequence[int]


@attrs.frozen
class Account:
    """A user to run programs as; without ids, the user we are."""

    uid: int | None = None
    gid: int | None = None

    @property
    def identity(self) -> Identity:
        """The arguments that make `subprocess.Popen` run a program as this user."""
        if self.uid is None or self.gid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}

    def give(self, path: Path) -> None:
        """Make this user the owner of a file or folder."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, folder: Path) -> bool:
        """Whether this user gets into the folder; tried, because mode bits do not tell all."""
        return self.can_run(["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)])

    def can_run(self, command: Sequence[str]) -> bool:
        """Whether this user can start the program and it succeeds."""
        try:
            done = subprocess.run(command, check=False, capture_output=True, cwd=os.sep, **self.identity)
        except OSError:
            return False
        return done.returncode == 0


def server_account(data: Path | None) -> Account:
    """Return whom to run the server as: the owner of its data, else the first unprivileged user.

    Raises NoUnprivilegedUser when we are root and there is neither.
    """
    if os.geteuid() != 0:
        return Account()
    if data is not None and data.exists() and (owner := data.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in PREFERRED:
        if name in known:
            return Account(known[name].pw_uid, known[name].pw_gid)
    raise NoUnprivilegedUser(
        f"PostgreSQL refuses to run as root and there is no user {' or '.join(PREFERRED)}"
    )
