"""The ledger: which attempts a worker holds, which handlers run, which slots are free, and who waits for one."""

from collections.abc import Mapping

from .attempt import Attempt
from .bell import Bell
from .prefetch import Prefetch


class Ledger:
    """``held`` until the verdict, ``running`` until the handler has really ended: only then is its slot free.

    Other threads may copy the two sets; only the worker's loop changes them.
    """

    def __init__(self, queues: Mapping[str, int], room: Bell, quiet: Bell) -> None:
        """Start with all slots free; ``room`` rings when there may be room, ``quiet`` whenever something ends."""
        self._free = dict(queues)
        self._room, self._quiet = room, quiet
        self.prefetch = Prefetch(queues)
        self.held: set[Attempt] = set()
        self.running: set[Attempt] = set()

    def free(self, queue: str) -> int:
        """Return how many handlers of the queue may start now."""
        return self._free[queue]

    def hold(self, attempt: Attempt) -> None:
        """Keep the lease alive from now on."""
        self.held.add(attempt)

    def occupy(self, attempt: Attempt) -> None:
        """Give the attempt a slot."""
        self.running.add(attempt)
        self._free[attempt.slots] -= 1

    def vacate(self, attempt: Attempt) -> None:
        """Free the slot of a handler that has ended."""
        self.running.discard(attempt)
        self._free[attempt.slots] += 1
        self._tell()

    def settle(self, *attempts: Attempt) -> None:
        """Let go of leases: their verdicts are known, or nothing will be reported."""
        self.held.difference_update(attempts)
        self._tell()

    def _tell(self) -> None:
        self._room.ring()
        self._quiet.ring()
