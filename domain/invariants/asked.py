"""Firings that operations ask for: each row has somebody who asked, and who asked has all rows (I27, I28, I30)."""

from attrs import define, field

from ..firing import Outcome, Reason
from ..ledger_rows import LedgerRow
from ..schedule import Overlap
from .findings import Findings
from .progress import Progress
from .requests import Backfill, Trigger, alone
from .stints import Changes

_QUEUES = (Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING)


@define(eq=False)
class Asked:
    """Compares the rows of one schedule's ledger that are not the clock's with what was asked for."""

    changes: Changes
    findings: Findings
    _triggered: set[str] = field(factory=set)
    _backfilled: dict[str, Progress] = field(factory=dict)

    def take(self, entry: LedgerRow) -> None:
        """Judge a row; rows of one origin come in order of fire times."""
        match self.changes.requests.get(entry.origin):
            case Trigger() as trigger:
                self._take_triggered(entry, trigger)
            case Backfill() as backfill:
                self._progress(entry.origin, backfill).take(entry)
            case None:
                self.findings.note("I27", f"fire time {entry.fire_at} by {entry.origin}: nobody asked for it")

    def finish(self) -> None:
        """Find what was asked for and is not there."""
        for origin, request in self.changes.requests.items():
            if isinstance(request, Backfill):
                self._progress(origin, request).finish()
            elif origin not in self._triggered:
                self.findings.note("I30", f"{origin} at {request.fire_at} has no row of the ledger")

    def _progress(self, origin: str, backfill: Backfill) -> Progress:
        if origin not in self._backfilled:
            self._backfilled[origin] = Progress(origin, backfill, self.changes, self.findings)
        return self._backfilled[origin]

    def _take_triggered(self, entry: LedgerRow, trigger: Trigger) -> None:
        if entry.origin in self._triggered:
            self.findings.note("I27", f"{entry.origin} fired twice, again at {entry.fire_at}")
        self._triggered.add(entry.origin)
        if not entry.until == entry.fire_at == trigger.fire_at == trigger.at == entry.decided_at:
            what = f"{entry.origin} at {entry.fire_at}, decided at {entry.decided_at}; its event says {trigger.at}"
            self.findings.note("I30", what)
        if not _is_possible(entry, trigger.overlap):
            what = (
                f"{entry.origin} {entry.outcome} ({entry.reason}) although its overlap is {trigger.overlap}"
            )
            self.findings.note("I28", what)


def _is_possible(entry: LedgerRow, overlap: object) -> bool:
    match entry.outcome, entry.reason:
        case (Outcome.FIRED, Reason.ASKED):
            return True
        case (Outcome.QUEUED, Reason.ASKED):
            return overlap in _QUEUES
        case (Outcome.SKIPPED, Reason.OVERLAP):
            return alone(overlap)
        case (Outcome.SKIPPED, Reason.EDITED):  # it waited when the schedule was deleted
            return overlap in _QUEUES
        case _:
            return False
