"""Waking idle workers after a commit: a hint, whose failure changes nothing."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import psycopg

from ...domain.errors import FencepostError
from .database import Database
from .waking import waking

HINT_ERRORS = (FencepostError, psycopg.Error)
"""What a hint may run into; what was committed stays committed."""
REST = 100
"""A look at the idle flags is followed by this many times its duration without one: about 1 % of the time."""
LONGEST_REST = 0.1
"""Seconds; however long a look took, the next one comes well before a fallback poll."""


async def rouse(database: Database, queues: Collection[str]) -> None:
    """Tell workers that are idle that these queues may have work; to be called after the work was committed."""
    if queues:
        with suppress(*HINT_ERRORS):
            await database.execute(waking(database.schema).to_idle(queues=sorted(queues)))


class Rouser:
    """The same for submits that are made at the same time: a look serves all that committed before it began.

    Whoever is alone looks at once. While others are under way, too, the machine is busy, and a look for each would cost
    more than it gains: after one there is a rest, in which a submit leaves its look to those who will end next.
    """

    def __init__(self, database: Database) -> None:
        """Look through this database."""
        self._database = database
        self._due: set[str] = set()
        self._under_way = 0
        self._looking = False
        self._rested = monotonic()

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Count as one who will call ``rouse`` soon, whatever happens."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    async def rouse(self, queues: Collection[str] = ()) -> None:
        """Look, or see to it that somebody does who begins after this call."""
        self._due.update(queues)
        while self._due and not (self._looking or self._left_to_others):
            await self._look()

    @property
    def _left_to_others(self) -> bool:
        return self._under_way > 0 and monotonic() < self._rested

    async def _look(self) -> None:
        due, self._due = self._due, set()
        began, self._looking = monotonic(), True
        try:
            await rouse(self._database, due)
        except BaseException:  # cancelled: whoever is next looks for these, too
            self._due |= due
            raise
        finally:
            self._looking, ended = False, monotonic()
            self._rested = ended + min(REST * (ended - began), LONGEST_REST)
