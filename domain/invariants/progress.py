"""A backfill beside its rows of the ledger: its fire times one after the other, as many as its end tells (I28, I30)."""

from collections.abc import Iterator
from datetime import datetime

from attrs import define, field

from ..backfill import Ending, times_between
from ..firing import Outcome, Reason
from ..ledger_rows import LedgerRow
from ..schedule import Overlap
from .findings import Findings
from .requests import Backfill
from .spans import is_computable
from .stints import Changes, Stint


@define(eq=False)
class Progress:
    """How far the ledger has followed a backfill; its fire times are those of the definition it began with."""

    origin: str
    backfill: Backfill
    changes: Changes
    findings: Findings
    decided: int = 0
    fired: int = 0
    _stint: Stint | None = None
    _times: Iterator[datetime] = field(factory=lambda: iter(()))
    _following: datetime | None = None

    def __attrs_post_init__(self) -> None:
        """Begin where it was asked to."""
        backfill = self.backfill
        stint = self._stint = self.changes.in_force(backfill.position)
        if stint is None or stint.terms is None or backfill.from_at is None or backfill.to_at is None:
            return
        self._times = times_between(stint.terms.timing, backfill.from_at, backfill.to_at)
        self._following = next(self._times, None)

    def take(self, entry: LedgerRow) -> None:
        """Judge a row: it is about the next fire times."""
        first, number, last = self._following, 0, None
        while self._following is not None and self._following <= entry.until and number <= entry.count:
            number, last = number + 1, self._following
            self._following = next(self._times, None)
        if (first, number, last) != (entry.fire_at, entry.count, entry.until):
            what = f"{self.origin}: {entry.count} fire times from {entry.fire_at} to {entry.until}"
            self._mismatch(f"{what}, there are {number} from {first} to {last}", entry.tz_version)
        if not _is_possible(entry, self.backfill.overlap):
            what = f"{self.origin} {entry.outcome} ({entry.reason}) although its overlap is {self.backfill.overlap}"
            self.findings.note("I28", what)
        self.decided += entry.count
        self.fired += entry.outcome == Outcome.BACKFILLED

    def finish(self) -> None:
        """Compare with what its end tells."""
        backfill = self.backfill
        if backfill.ending is None:
            return
        if (self.decided, self.fired) != (backfill.decided, backfill.fired):
            what = f"{self.origin}: {self.decided} fire times decided, {self.fired} of them with jobs"
            self.findings.note("I30", f"{what}; its event says {backfill.decided} and {backfill.fired}")
        if backfill.ending == Ending.DONE and self.decided != backfill.fire_times:
            what = f"{self.origin}: done with {self.decided} of {backfill.fire_times} fire times"
            self.findings.note("I28", what)

    def _mismatch(self, what: str, tz_version: str) -> None:
        stint = self._stint
        if stint is None or stint.terms is None or is_computable(stint.terms, tz_version, stint.tz_version):
            self.findings.note("I28", what)
        else:
            self.findings.leave_open("I28", what)


def _is_possible(entry: LedgerRow, overlap: object) -> bool:
    match entry.outcome, entry.reason:
        case (Outcome.BACKFILLED, Reason.ASKED):
            return True
        case (Outcome.SKIPPED, Reason.OVERLAP):
            return overlap == Overlap.SKIP
        case _:
            return False
