"""The tie between a server and the process that started it: a pipe only that process holds open.

When the process ends, in whatever way, the kernel closes the pipe and the keeper stops the server. Programs
the process starts do not inherit it, and forked children let go of it at once.
"""

import os
from functools import cache

import attrs

RELEASE = b"."

_held: set[int] = set()


@attrs.define
class Tie:
    """The writing end of the pipe."""

    _fd: int | None

    @classmethod
    def make(cls) -> tuple["Tie", int]:
        """Return the tie and the reading end for the keeper."""
        _let_go_in_forks()
        read, write = os.pipe()
        _held.add(write)
        return cls(write), read

    def release(self) -> None:
        """Let the server outlive this process."""
        if self._fd is not None:
            os.write(self._fd, RELEASE)
        self.cut()

    def cut(self) -> None:
        """Close the pipe: a server that was not released is stopped."""
        if self._fd is not None:
            _held.discard(self._fd)
            os.close(self._fd)
            self._fd = None


@cache
def _let_go_in_forks() -> None:
    os.register_at_fork(after_in_child=_close_all)


def _close_all() -> None:
    for fd in _held:
        os.close(fd)
    _held.clear()
