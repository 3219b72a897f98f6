"""libfaketime: processes whose wall clock is wrong, and a server whose clock steps while it runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import frozen

from fencepost.adapters.embedded import EmbeddedPostgres, environment

from .places import passable_folder
from .servers import QUICK

THREADED, SINGLE = "libfaketimeMT.so.1", "libfaketime.so.1"
INSTALLED = f"lib/*/faketime/{THREADED}"
NAMED = "FENCEPOST_TEST_FAKETIME"


def library(file: str = THREADED) -> Path | None:
    """The library that shifts all clocks of a process, where it is installed or FENCEPOST_TEST_FAKETIME says."""
    named = os.environ.get(NAMED)
    found = [Path(named)] if named else sorted(Path("/usr").glob(INSTALLED))
    return found[0].with_name(file) if found and found[0].with_name(file).exists() else None


@frozen
class SteppingServer:
    """A server of the test's own; its clock is as many seconds ahead of the machine's as its file says."""

    dsn: str
    _offset: Path

    def step_to(self, seconds: int) -> None:
        """Let all its processes read another clock from now on, in one step."""
        tell(self._offset, seconds)


@contextmanager
def stepping_server() -> Iterator[SteppingServer]:
    """Start one for the block; skips the test where libfaketime is missing."""
    preload = library(SINGLE)
    if preload is None:
        pytest.skip(f"no libfaketime (package faketime, or {NAMED})")
    with passable_folder() as folder:
        offset = folder / "offset"
        tell(offset, 0)
        faked = {
            "LD_PRELOAD": str(preload),
            "FAKETIME_TIMESTAMP_FILE": str(offset),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        server = EmbeddedPostgres(folder / "data", settings=QUICK, shelter=folder / "shelter")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(environment, "KEPT", (*environment.KEPT, *faked))
            for name, value in faked.items():
                patch.setenv(name, value)
            running = server.start()
        try:
            yield SteppingServer(running.dsn, offset)
        finally:
            server.stop()


def tell(offset: Path, seconds: int) -> None:
    """Write the file as a whole: it is read whenever anybody reads the clock."""
    new = offset.with_suffix(".new")
    new.write_text(f"{seconds:+d}\n")
    new.chmod(0o644)
    new.replace(offset)
