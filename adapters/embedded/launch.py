"""Starting the server's processes."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from .account import Account
from .environment import server_environment
from .tie import Tie

KEEPER = Path(__file__).with_name("keeper.py")

# Where to listen and where the data are is what makes the server ours.
FIXED = {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
RESERVED = {*FIXED, "port", "data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"}
DEFAULTS = {
    "shared_buffers": "128MB",
    "max_connections": "200",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@attrs.frozen
class Launched:
    """A server on its way up; `ended` becomes true when it will not get there."""

    tie: Tie
    _status: int

    def ended(self) -> bool:
        """Whether the server's process is gone."""
        return bool(select.select([self._status], [], [], 0)[0])

    def forget(self) -> None:
        """Stop watching whether the server comes up."""
        os.close(self._status)


def server_command(postgres: str, data: Path, port: int, settings: Mapping[str, str]) -> list[str]:
    """Return the command line of the server."""
    options = DEFAULTS | dict(settings) | FIXED
    flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    return [postgres, "-D", str(data), "-p", str(port), *flags]


def launch(command: list[str], account: Account, log: Path, lock: int) -> Launched:
    """Start the server below a keeper of its own, tied to this process until released."""
    tie, tie_end = Tie.make()
    status, status_end = os.pipe()
    ids = ("-" if number is None else str(number) for number in (account.uid, account.gid))
    try:
        with log.open("ab") as said:
            subprocess.run(
                [sys.executable, "-I", "-S", str(KEEPER), str(lock), *ids, *command],
                check=True,
                stdin=tie_end,
                stdout=status_end,
                stderr=said,
                cwd=os.sep,
                env=server_environment(),
                pass_fds=[lock],
            )
    except BaseException:
        tie.cut()
        os.close(status)
        raise
    finally:
        os.close(tie_end)
        os.close(status_end)
    return Launched(tie, status)


def free_port() -> int:
    """Return a port of the loopback interface nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
