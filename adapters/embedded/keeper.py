"""The keeper: a small process that is the server's parent.

It reaps the server, so that a killed one never lingers as a zombie that looks alive, and stops it when the tie
to its owner is cut. It runs as a program of its own, on the standard library alone:

    keeper.py LOCK UID GID COMMAND...     a dash for the ids: stay who we are

Standard input is the tie, standard output closes when the server has ended, standard error is its log. LOCK is a
descriptor the server inherits; the lock lasts until the last process of the server is gone.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys

FAST, IMMEDIATE = signal.SIGINT, signal.SIGQUIT
GRACE = 15.0
PR_SET_PDEATHSIG = 1


def main(lock: str, uid: str, gid: str, *command: str) -> None:
    """Leave the caller's session, start the server and stay until it ends."""
    if os.fork():
        os._exit(0)
    os.setsid()
    child_ended = _child_signals()
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        stderr=sys.stderr.fileno(),
        start_new_session=True,
        pass_fds=[int(lock)],
        preexec_fn=_end_with_keeper,  # noqa: PLW1509 - there are no threads here
        user=None if uid == "-" else int(uid),
        group=None if gid == "-" else int(gid),
        extra_groups=None if gid == "-" else [],
    )
    _keep(server, child_ended)


def _keep(server: subprocess.Popen[bytes], child_ended: int) -> None:
    watched = [sys.stdin.fileno(), child_ended]
    while server.poll() is None:
        ready, _, _ = select.select(watched, [], [])
        if child_ended in ready:
            os.read(child_ended, 64)
        elif os.read(sys.stdin.fileno(), 1):
            watched = [child_ended]
        else:
            _stop(server)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Ask for a fast shutdown; after the grace, for an immediate one, from which the next start recovers."""
    server.send_signal(FAST)
    try:
        server.wait(GRACE)
    except subprocess.TimeoutExpired:
        server.send_signal(IMMEDIATE)
        server.wait()


def _child_signals() -> int:
    """Return a descriptor that becomes readable when the child changes state."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read


def _end_with_keeper() -> None:
    """Where the kernel can do it, have the server stopped when the keeper itself is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(FAST))


if __name__ == "__main__":
    main(*sys.argv[1:])
