"""How long to wait before the database is tried again."""

from collections.abc import Callable

from attrs import define

FIRST = 0.5
LONGEST = 4.0


@define
class Backoff:
    """Doubling waits with jitter: all loops of a worker together stay below five tries a second."""

    draw: Callable[[], float]
    tries: int = 0

    def failed(self) -> float:
        """Return the seconds to wait after one more failure in a row."""
        bound = min(LONGEST, FIRST * 2.0 ** min(self.tries, 10))
        self.tries += 1
        return bound * (0.75 + self.draw() / 4)

    def answered(self) -> None:
        """Start over: the database has answered."""
        self.tries = 0
