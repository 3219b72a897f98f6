"""Waiting for something observable instead of sleeping and hoping."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(observe: Callable[[], T], *, within: float = 10.0, every: float = 0.02) -> T:
    """Return the first truthy observation; fail when there is none in time."""
    deadline = time.monotonic() + within
    while not (seen := observe()):
        assert time.monotonic() < deadline, f"not observed within {within} s; last seen: {seen!r}"
        time.sleep(every)
    return seen
