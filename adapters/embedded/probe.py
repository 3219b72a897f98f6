"""Asking a server whether it is there, and whether it is ours."""

import psycopg

from .errors import EmbeddedError
from .postmaster import postmaster
from .running import Running
from .state import State

QUESTION = "SELECT current_setting('data_directory'), current_setting('server_version')"


class NotReady(EmbeddedError):
    """No server of ours accepts connections at this moment."""


def probe(state: State, *, adopted: bool) -> Running:
    """Return the running server.

    Raises NotReady when nobody answers, or somebody else does.
    """
    if state.port is None:
        raise NotReady("it was never started")
    try:
        with psycopg.connect(state.dsn, connect_timeout=5) as connection:
            answer = connection.execute(QUESTION).fetchone()
    except psycopg.OperationalError as error:
        raise NotReady(str(error)) from error
    pid = postmaster(state.data)
    if answer is None or answer[0] != str(state.data) or pid is None:
        raise NotReady(f"port {state.port} is another server's")
    return Running(state.dsn, pid, str(answer[1]).split(" ", maxsplit=1)[0], adopted)
