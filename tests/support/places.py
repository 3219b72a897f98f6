"""Folders for the data of test servers: in memory where that is possible, for a disk makes tests wait."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 2 << 30


@contextmanager
def passable_folder() -> Iterator[Path]:
    """Make a folder any user can pass through, and remove it with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix="fencepost-tests-", dir=_base())).resolve()
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _base() -> Path:
    """Memory is good enough when it is large, and when programs may be run from it."""
    if os.access(MEMORY, os.W_OK):
        system = os.statvfs(MEMORY)
        if system.f_bavail * system.f_frsize > ENOUGH and not system.f_flag & os.ST_NOEXEC:
            return MEMORY
    return Path(tempfile.gettempdir())
