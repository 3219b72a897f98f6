"""Fire times of a schedule that have had their decision: new rows of the ledger neither repeat nor enclose any."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from itertools import accumulate
from typing import Protocol


class Row(Protocol):
    """A row of the ledger, from its first fire time to its last."""

    @property
    def fire_at(self) -> datetime:
        """The first."""

    @property
    def last(self) -> datetime:
        """The last."""


class DecidedSlots:
    """A container of the fire times that rows of the ledger are about, alone or inside a range.

    There are such at or after the next fire time only when the clock has stepped back.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        """Take rows of the clock's firings, in any order."""
        ranges = sorted((row.fire_at, row.last) for row in rows)
        self._first = [first for first, _ in ranges]
        self._last = list(accumulate((last for _, last in ranges), max))

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._first)

    def __contains__(self, moment: object) -> bool:
        """Whether the fire time has had its decision."""
        assert isinstance(moment, datetime)
        before = self.place(moment)
        return before > 0 and moment <= self._last[before - 1]

    def place(self, moment: datetime) -> int:
        """Return how many rows begin by then: where that differs, two moments have a row between them."""
        return bisect_right(self._first, moment)


NONE = DecidedSlots()
"""None that matters: nothing was decided at or after the next fire time."""
