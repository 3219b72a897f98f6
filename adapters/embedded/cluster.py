"""Making a data folder: complete or not at all."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from .account import Account
from .binaries import Binaries
from .environment import server_environment
from .errors import ForeignDataFolder, IncompatibleDataFolder, InitializationFailed
from .state import State, save, sync_folder


def make_cluster(binaries: Binaries, data: Path, account: Account, state_file: Path, lock: int) -> State:
    """Make the data folder in a temporary sibling and move it into place, its password saved first.

    The descriptor `lock` is handed to initdb: should we be killed, the next one waits until initdb has ended.
    Raises ForeignDataFolder when something else is in the way, InitializationFailed when initdb fails.
    """
    if data.exists() and any(data.iterdir()):
        raise ForeignDataFolder(f"{data} is neither empty nor a data folder of PostgreSQL")
    prefix = f"{data.name}.making-"
    for abandoned in (f for f in data.parent.iterdir() if f.name.startswith(prefix)):
        shutil.rmtree(abandoned)
    state = State(data, secrets.token_urlsafe(24))
    workshop = Path(tempfile.mkdtemp(prefix=prefix, dir=data.parent))
    try:
        made = _initdb(binaries, workshop, account, state.password, lock)
        save(state_file, state)
        made.replace(data)
        sync_folder(data.parent)
    finally:
        shutil.rmtree(workshop)
    return state


def check_major(binaries: Binaries, data: Path) -> None:
    """Raise IncompatibleDataFolder when the data were made by another major version."""
    made_by = (data / "PG_VERSION").read_text().strip()
    if made_by != binaries.major:
        raise IncompatibleDataFolder(
            f"{data} was made by PostgreSQL {made_by}, the programs in {binaries.bindir} are {binaries.version}:"
            f" name the folder of PostgreSQL {made_by} programs, or move the data with pg_upgrade or pg_dump"
        )


def _initdb(binaries: Binaries, workshop: Path, account: Account, password: str, lock: int) -> Path:
    made, secret = workshop / "data", workshop / "password"
    workshop.chmod(0o711)
    made.mkdir(mode=0o700)
    secret.touch(mode=0o600)
    secret.write_text(password)
    account.give(made)
    account.give(secret)
    command = [
        binaries.program("initdb"),
        *(
            "--pgdata",
            str(made),
            "--username",
            "postgres",
            "--pwfile",
            str(secret),
            "--auth",
            "scram-sha-256",
        ),
        *("--encoding", "UTF8", "--no-locale", "--data-checksums"),
    ]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=os.sep,
        env=server_environment(),
        pass_fds=[lock],
        **account.identity,
    )
    if done.returncode != 0:
        raise InitializationFailed(
            f"initdb ended with {done.returncode}: {(done.stderr or done.stdout)[-1000:]}"
        )
    return made
