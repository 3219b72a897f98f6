"""Finding out whether the data are in use, and by whom."""

import time
from pathlib import Path

from .errors import StartTimeout
from .locks import PAUSE, try_lock
from .postmaster import postmaster, quit_orphans
from .probe import NotReady, probe
from .running import Running
from .state import State

ORPHANS_MAY_LAST = 0.5


def occupy(running: Path, state: State | None, deadline: float) -> int | Running:
    """Return the server to adopt, else a descriptor with the lock that says no process of a server is left.

    Raises StartTimeout when there are processes that neither answer nor end.
    """
    reason: str | NotReady = "it never got a password"
    headless_since = None
    while (lock := try_lock(running)) is None:
        if state is not None:
            try:
                return probe(state, adopted=True)
            except NotReady as error:
                reason = error
            headless_since = _watch_orphans(state.data, headless_since)
        if time.monotonic() > deadline:
            raise StartTimeout(f"a server holds {running} but does not answer: {reason}")
        time.sleep(PAUSE)
    return lock


def _watch_orphans(data: Path, headless_since: float | None) -> float | None:
    """Quit processes that go on without their main process; returns since when it has been missing."""
    if postmaster(data) is not None:
        return None
    now = time.monotonic()
    if headless_since is not None and now - headless_since > ORPHANS_MAY_LAST:
        quit_orphans(data)
    return headless_since or now
