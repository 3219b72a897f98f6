"""How many jobs may be claimed: free slots, what may wait for one, and no more than can be reported."""

from attrs import frozen

from .ledger import Ledger
from .reporting import Reporting
from .settings import WorkerSettings


@frozen
class Rooms:
    """The bounds of the next claim, by queue."""

    settings: WorkerSettings
    ledger: Ledger
    reporting: Reporting

    def now(self, queue: str, arrived: int = 0) -> int:
        """Return how many jobs one claim may ask for now, or after so many more; none for a number below one."""
        unreported = self.settings.max_unreported - self.reporting.unreported - len(self.ledger.prefetch)
        free = self.ledger.free(queue) + self.ledger.prefetch.room(queue)
        return min(min(free, unreported) - arrived, self.settings.batch)

    def most(self, queue: str) -> int:
        """Return how many jobs one claim may ask for when nothing runs."""
        all_slots = self.settings.queues[queue] + self.ledger.prefetch.most(queue)
        return min(all_slots, self.settings.batch, self.settings.max_unreported)
