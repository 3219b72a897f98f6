"""A process between a worker and a command: it ends the command, and all that it has started, when it is told to.

Run as a script, without our package or any other: ``guard.py CONTROL PARENT GRACE SHELL``, the command line being in
the environment. CONTROL is a pipe that only the worker holds open. When the worker closes it, or ends in whatever way,
the command's session is ended: SIGTERM to every process in it, SIGKILL after GRACE seconds. The guard leads that
session; its exit code is the command's, or 128 and the number of the signal that ended it.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

COMMAND = "_FENCEPOST_COMMAND"
"""The variable that the command line is in: among the arguments, ``pkill -f`` would find the guard by it."""
LC_CTYPE = "LC_CTYPE"
GIVEN_LC_CTYPE = "_FENCEPOST_LC_CTYPE"
"""The variable that holds the command's ``LC_CTYPE``: Python sets its own where a locale says nothing."""
CANNOT_RUN = 126
NOT_FOUND = 127
BY_SIGNAL = 128
LOOK = 0.02
"""Seconds between two looks at who is left."""
PARENT_LOOK = 1.0
"""Seconds between two looks for the worker: another child of its may hold the pipe open, too."""
KILL_WITHIN = 5.0
"""Seconds in which processes that were killed should be gone."""
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""Whoever sends these to a whole group of processes means the command, which has them unchanged."""
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ)
"""What Python or the guard ignores, and no command expects to find ignored."""


def main(control: int, parent: int, grace: float, shell: str) -> int:
    """Run the command to its end, or end it."""
    ended = _ear(signal.SIGCHLD)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(control, False)
    command, environment = _unpacked(dict(os.environ))
    try:
        child = os.posix_spawn(
            shell, [shell, "-c", command], environment, setpgroup=0, setsigdef=RESTORED, setsigmask=[]
        )
    except OSError as error:
        sys.stderr.write(f"cannot run {shell}: {error.strerror}\n")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN
    _let_go()
    poll = select.poll()
    poll.register(control)
    poll.register(ended, select.POLLIN)
    while (code := _code(child)) is None:
        told = {descriptor for descriptor, _ in poll.poll(PARENT_LOOK * 1_000)}
        if control in told or os.getppid() != parent:
            end_session(os.getpid(), child, grace)
            return BY_SIGNAL + signal.SIGTERM
        if ended in told:
            os.read(ended, 64)
    return code


def packed(command: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that a guard is started in."""
    return {**environment, COMMAND: command, GIVEN_LC_CTYPE: environment.get(LC_CTYPE, "")}


def _unpacked(environment: dict[str, str]) -> tuple[str, dict[str, str]]:
    command, given = environment.pop(COMMAND), environment.pop(GIVEN_LC_CTYPE)
    environment.pop(LC_CTYPE, None)
    return command, environment | ({LC_CTYPE: given} if given else {})


def end_session(session: int, group: int, grace: float) -> None:
    """End every process of a session but its leader; where the system does not list processes, of the group."""
    asked: set[int] = set()
    deadline = time.monotonic() + grace
    while (left := _left(session, group)) and time.monotonic() < deadline:
        for process in left - asked:  # some are started while others are asked
            _signal(process, signal.SIGTERM)
            _signal(process, signal.SIGCONT)
        asked |= left
        time.sleep(LOOK)
    deadline = time.monotonic() + KILL_WITHIN
    while (left := _left(session, group)) and time.monotonic() < deadline:
        for process in left:
            _signal(process, signal.SIGKILL)
        time.sleep(LOOK)


def _ear(number: int) -> int:
    """Return a pipe that can be read whenever the signal has come."""
    ear, mouth = os.pipe()
    for end in (ear, mouth):
        os.set_blocking(end, False)
    signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    return ear


def _let_go() -> None:
    """Leave the streams to the command, so that they end when it has closed them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _code(child: int) -> int | None:
    """Return how the command ended, as shells say it; None while it runs."""
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid == 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else BY_SIGNAL - code


def _left(session: int, group: int) -> set[int]:
    """Return what is left, as ``kill`` takes it."""
    if os.access("/proc/self/stat", os.R_OK):
        return set(_members(session))
    with suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)  # as long as nobody has asked for its end, it is there
    return {-group} if _signal(-group, 0) else set()


def _signal(pid: int, number: int) -> bool:
    """Send a signal; tell whether there was somebody to get it."""
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _members(session: int) -> Iterator[int]:
    """Yield the processes of a session that have not ended, its leader left out."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - importing pathlib takes longer than all the rest
        if name.isdecimal() and int(name) != session:
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                    state, _, _, theirs = stat.read().rpartition(b")")[2].split()[:4]
            except (OSError, ValueError):
                continue  # it has just ended
            if int(theirs) == session and state not in b"ZX":
                yield int(name)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]))
