"""Bringing a prepared server up."""

import re
import time
from collections.abc import Mapping
from pathlib import Path

import attrs

from .account import Account
from .binaries import Binaries
from .errors import StartFailed, StartTimeout
from .files import SideFiles
from .launch import Launched, free_port, launch, server_command
from .locks import PAUSE
from .postmaster import clear_stale_pidfile
from .probe import NotReady, probe
from .running import Running
from .state import State, save
from .tie import Tie

PORT_TAKEN = re.compile("Address already in use|could not create any TCP/IP sockets")
LARGE_LOG = 10_000_000


@attrs.frozen
class Startup:
    """Everything a start needs: programs, whom to run them as, and where things are."""

    binaries: Binaries
    account: Account
    state: State
    files: SideFiles
    settings: Mapping[str, str]

    def run(self, lock: int, deadline: float) -> tuple[Running, Tie]:
        """Start the server and wait until it answers; a port that was taken meanwhile is replaced.

        Raises StartFailed with the end of the log, or StartTimeout; nothing keeps running then.
        """
        clear_stale_pidfile(self.state.data)
        if self.files.log.exists() and self.files.log.stat().st_size > LARGE_LOG:
            self.files.log.unlink()
        while True:
            try:
                return self._attempt(lock, deadline)
            except StartFailed as failure:
                if not PORT_TAKEN.search(str(failure)) or time.monotonic() > deadline:
                    raise

    def _attempt(self, lock: int, deadline: float) -> tuple[Running, Tie]:
        port = free_port()
        state = attrs.evolve(self.state, port=port)
        save(self.files.state, state)
        before = self.files.log.stat().st_size if self.files.log.exists() else 0
        command = server_command(self.binaries.program("postgres"), state.data, port, self.settings)
        launched = launch(command, self.account, self.files.log, lock)
        try:
            return _first_answer(launched, state, _Log(self.files.log, before), deadline), launched.tie
        except BaseException:
            launched.tie.cut()
            raise
        finally:
            launched.forget()


@attrs.frozen
class _Log:
    path: Path
    start: int

    def tail(self) -> str:
        """Return the end of what the server said since it was started."""
        with self.path.open("rb") as log:
            log.seek(self.start)
            return log.read().decode(errors="replace")[-2000:]


def _first_answer(launched: Launched, state: State, log: _Log, deadline: float) -> Running:
    while True:
        ended = launched.ended()
        try:
            return probe(state, adopted=False)
        except NotReady as reason:
            if ended:
                raise StartFailed(f"the server ended while starting:\n{log.tail()}") from reason
            if time.monotonic() > deadline:
                raise StartTimeout(f"the server does not answer: {reason}\n{log.tail()}") from reason
        time.sleep(PAUSE)
