"""The controller of one embedded server."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import attrs

from .files import SideFiles
from .launch import RESERVED
from .locks import locked
from .occupancy import occupy
from .preparation import Preparation
from .running import Running
from .shelter import Shelter
from .shutdown import end_server
from .state import State, load
from .tie import Tie


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(path).resolve()


@attrs.define
class EmbeddedPostgres:
    """A private PostgreSQL server over one data folder.

    Any number of processes may start it: the first does, the others adopt it. Tied to its parent, it ends with
    the process that started it, however that ends; otherwise it goes on until `stop`. As a context manager it
    starts the server, and stops it if it was not adopted.

    `settings` go to the server as they are; `shelter` is where data and programs go when root's folders are
    closed to the user the server runs as.
    """

    datadir: Path = attrs.field(converter=_absolute)
    bindir: Path | None = attrs.field(default=None, converter=attrs.converters.optional(_absolute))
    tied_to_parent: bool = True
    settings: Mapping[str, str] = attrs.field(factory=dict)
    shelter: Path | None = attrs.field(default=None, converter=attrs.converters.optional(_absolute))
    _tie: Tie | None = attrs.field(default=None, init=False)

    @settings.validator
    def _check_settings(self, _: object, settings: Mapping[str, str]) -> None:
        for name in settings:
            if name.lower() in RESERVED or not re.fullmatch(r"[A-Za-z_][\w.]*", name):
                raise ValueError(f"{name!r} is not a setting an embedded server takes")

    def start(self, timeout: float = 60.0) -> Running:
        """Start the server, or adopt the one that runs already.

        Raises an EmbeddedError that says what is missing; TimeoutError when another start does not come to an
        end; PermissionError when the server is another user's.
        """
        deadline = time.monotonic() + timeout
        self.datadir.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._files.starting, deadline) as turn:
            state = self._state()
            lock = occupy(self._files.running, state, deadline)
            if isinstance(lock, Running):
                return lock
            try:
                return self._launch(state, turn, lock, deadline)
            finally:
                os.close(lock)

    def stop(self, timeout: float = 20.0) -> None:
        """Stop the server, whoever started it; nothing happens when none runs.

        Raises StopFailed when its processes do not end; TimeoutError when a start does not come to an end.
        """
        state = load(self._files.state)
        if state is not None:
            with locked(self._files.starting, time.monotonic() + timeout):
                end_server(state.data, self._files.running, timeout)
        if self._tie is not None:
            self._tie.cut()
            self._tie = None

    def remove(self, timeout: float = 20.0) -> None:
        """Stop the server and delete its data and all that is kept beside them.

        Raises what `stop` raises; nothing is deleted then.
        """
        self.stop(timeout)
        state = load(self._files.state)
        if state is not None:
            Shelter.clear(state.data, self.datadir)
        self._files.delete()

    def __enter__(self) -> Running:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tie is not None:
            self.stop()

    @property
    def _files(self) -> SideFiles:
        return SideFiles(self.datadir)

    def _state(self) -> State | None:
        """What was saved, unless it was saved for a data folder that was never finished or is gone."""
        state = load(self._files.state)
        return state if state is not None and (state.data / "PG_VERSION").exists() else None

    def _launch(self, state: State | None, turn: int, lock: int, deadline: float) -> Running:
        preparation = Preparation(self.datadir, self.bindir, self.settings, self.shelter)
        running, tie = preparation.startup(state, turn, deadline).run(lock, deadline)
        if not self.tied_to_parent:
            tie.release()
        self._tie = tie
        return running
