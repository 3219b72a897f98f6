"""What could not be carried out a moment ago, so that it is not tried again with others at once."""

from collections.abc import Callable, Hashable, Iterator
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
AWHILE = 60.0
"""Seconds until what is set aside is tried again, which is how often a line in the log tells of it."""


class Aside(Generic[K]):
    """Keys of what this process has set aside; iterated, those that still are."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """Nothing yet."""
        self._now = now
        self._until: dict[K, float] = {}

    def put(self, key: K) -> None:
        """Set something aside for a while."""
        self._until = {one: self._until[one] for one in self}
        self._until[key] = self._now() + AWHILE

    def __contains__(self, key: K) -> bool:
        """Whether it is set aside."""
        return self._until.get(key, self._now()) > self._now()

    def __iter__(self) -> Iterator[K]:
        """Go through what is."""
        return (key for key in self._until if key in self)
