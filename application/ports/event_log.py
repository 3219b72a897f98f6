"""Reads of the history: both event tables, in their order."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from ...domain.ledger_rows import LedgerRow, ScheduleRow


@frozen(kw_only=True)
class LogFilter:
    """All given conditions must hold; None means any. ``since`` is compared with the event's ``at``."""

    names: frozenset[str] | None = None
    actor: str | None = None
    job_id: int | None = None
    subject: str | None = None
    since: datetime | None = None


class EventLog(Protocol):
    """The append-only truth of how everything came to be."""

    async def history(self, job_id: int) -> Sequence[JobEvent]:
        """Return a job's events by seq; empty when there is no such job."""
        ...

    async def evidence(self, job_id: int) -> Sequence[ControlEvent]:
        """Return the control events about one job (refused reports, erasures) by position."""
        ...

    async def page(
        self, where: LogFilter, *, after: int = 0, limit: int = 100
    ) -> Sequence[JobEvent | ControlEvent]:
        """Return the global log: events of both tables with a position above ``after``, by position."""
        ...

    def stream(self, *, job_id: int | None = None) -> AsyncIterator[JobEvent | LedgerRow | Job]:
        """Yield, from one snapshot and by job: its events by seq, the rows of the ledger that name it, its row.

        Jobs come in order of job_id; rows of either kind without events are yielded too. Feeds the checker.
        """
        ...

    def schedule_stream(self) -> AsyncIterator[ControlEvent | ScheduleRow | LedgerRow]:
        """Yield, from one snapshot and by name: a schedule's control events by position, its row, its ledger.

        The ledger comes by fire time and origin. What remains of schedules that are gone is yielded too.
        """
        ...

    def control_stream(self) -> AsyncIterator[ControlEvent]:
        """Yield all control events by position."""
        ...

    async def clock(self) -> datetime:
        """Return the database's clock."""
        ...
