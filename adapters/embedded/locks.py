"""File locks of the kernel: they end with the processes that hold them, however those die."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.02


def try_lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock, None when somebody else has it.

    The lock is shared by everyone who inherits the descriptor and ends when the last of them closes it.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def is_locked(path: Path) -> bool:
    """Whether anybody holds the lock."""
    fd = try_lock(path)
    if fd is not None:
        os.close(fd)
    return fd is None


@contextmanager
def locked(path: Path, deadline: float) -> Iterator[int]:
    """Hold the lock; yields the descriptor.

    Raises TimeoutError when it is not free before the deadline of the monotonic clock.
    """
    while (fd := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} is held by another process")
        time.sleep(PAUSE)
    try:
        yield fd
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)
