"""Schedules, one after the other: their events, their row and their ledger are one story (I27 to I30)."""

from datetime import timedelta

from attrs import define, evolve, field

from ..event import ControlEvent
from ..firing import Outcome
from ..ledger_rows import LedgerRow, ScheduleRow, schedule_of
from ..schedule import CRON, Slot
from .asked import Asked
from .entries import shape_faults
from .findings import Findings
from .inquiry import Inquiry
from .standing import judge_row
from .stints import Changes
from .walk import Walk

_FAR = timedelta(days=1)
_KEPT = 100


@define(eq=False)
class Schedules:
    """Takes, name by name: a schedule's control events by position, its row, its ledger by fire time and origin."""

    inquiry: Inquiry
    number: int = 0
    firings: int = 0
    _case: "_Case | None" = None

    def take(self, item: ControlEvent | ScheduleRow | LedgerRow) -> None:
        """Judge what comes next."""
        name = schedule_of(item)
        if self._case is None or self._case.findings.name != name:
            self.finish()
            self.number += 1
            self._case = _Case(Findings(name, self.inquiry))
        match item:
            case ControlEvent():
                self._case.changes.learn(item)
            case ScheduleRow():
                self._case.row = item
            case LedgerRow():
                self.firings += 1
                self._case.take(item)

    def finish(self) -> None:
        """Judge the last schedule as a whole."""
        if self._case is not None:
            case, self._case = self._case, None
            case.finish()


@define(eq=False)
class _Case:
    """One schedule."""

    findings: Findings
    changes: Changes = field(factory=Changes)
    row: ScheduleRow | None = None
    queued: list[Slot] = field(factory=list)
    _walk: Walk | None = None
    _asked: Asked | None = None

    @property
    def walk(self) -> Walk:
        """The way along the ledger, once all events are known."""
        if self._walk is None:
            clock = self.findings.clock
            upcoming = None if self.row is None else self.row.next_fire_at
            due_before = None if self.row is None else upcoming or clock + clock.resolution
            self._walk = Walk(self.changes, self.findings, upcoming, due_before)
        return self._walk

    @property
    def asked(self) -> Asked:
        """What operations have asked for."""
        if self._asked is None:
            self._asked = Asked(self.changes, self.findings)
        return self._asked

    def take(self, entry: LedgerRow) -> None:
        """Judge a row of the ledger."""
        entry = self._checked(entry)
        if entry.outcome == Outcome.QUEUED and entry.job_id is None and len(self.queued) < _KEPT:
            self.queued.append(Slot(entry.fire_at, entry.origin))
        if entry.origin == CRON:
            self.walk.take(entry)
        else:
            self.asked.take(entry)

    def finish(self) -> None:
        """Judge the whole."""
        for position, fault in self.changes.faults:
            self.findings.note("I29", fault, position=position)
        for question in self.changes.questions:
            self.findings.leave_open("I28", question)
        self.walk.finish()
        self.asked.finish()
        judge_row(self.row, self.walk, self.queued)

    def _checked(self, entry: LedgerRow) -> LedgerRow:
        """Judge a row by itself; return what can be compared with anything."""
        for fault in shape_faults(entry):
            self.findings.note("I28", f"fire time {entry.fire_at} by {entry.origin}: {fault}")
        newest = max(entry.decided_at, entry.until)
        if newest > self.findings.clock:
            what = f"fire time {entry.fire_at}: decided up to {newest}, which is in the future"
            self.findings.note("I3", what, lambda known: newest <= known.clock)
        if entry.until < entry.fire_at or entry.until - self.findings.clock > _FAR:
            return evolve(entry, until=entry.fire_at)
        return entry
