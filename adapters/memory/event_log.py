"""Reads of the history."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import islice

from ...application.ports.event_log import LogFilter
from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from ...domain.ledger_rows import LedgerRow, ScheduleRow
from .database import MemoryDatabase
from .ledger_log import entries_by_job, schedules

Event = JobEvent | ControlEvent


class MemoryEventLog:
    """Implements the port ``EventLog``."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Read this database."""
        self._database = database

    async def history(self, job_id: int) -> Sequence[JobEvent]:
        """Return a job's events by seq."""
        return tuple(self._database.job_events.get(job_id, ()))

    async def evidence(self, job_id: int) -> Sequence[ControlEvent]:
        """Return the control events about one job."""
        return [event for event in self._database.control_events if event.subject == _subject_of(job_id)]

    async def page(self, where: LogFilter, *, after: int = 0, limit: int = 100) -> Sequence[Event]:
        """Return the global log by position."""
        found = (event for event in islice(self._database.log, after, None) if _matches(event, where))
        return list(islice(found, limit))

    async def stream(self, *, job_id: int | None = None) -> AsyncIterator[JobEvent | LedgerRow | Job]:
        """Yield each job's events, its rows of the ledger and its row, as they were when the first was asked for."""
        with self._database.transaction():
            jobs = dict(self._database.jobs)
            entries = entries_by_job(self._database)
            histories = {key: tuple(events) for key, events in self._database.job_events.items()}
        for key in sorted(jobs.keys() | histories.keys() | entries.keys()):
            if job_id is not None and key != job_id:
                continue
            for event in histories.get(key, ()):
                yield event
            for entry in entries.get(key, ()):
                yield entry
            if key in jobs:
                yield jobs[key]

    async def schedule_stream(self) -> AsyncIterator[ControlEvent | ScheduleRow | LedgerRow]:
        """Yield all that is known of each schedule."""
        with self._database.transaction():
            found = list(schedules(self._database))
        for item in found:
            yield item

    async def control_stream(self) -> AsyncIterator[ControlEvent]:
        """Yield all control events by position."""
        for event in tuple(self._database.control_events):
            yield event

    async def clock(self) -> datetime:
        """Return the clock that decides."""
        return self._database.clock()


def _subject(event: Event) -> str:
    return event.subject if isinstance(event, ControlEvent) else _subject_of(event.job_id)


def _subject_of(job_id: int) -> str:
    return f"job:{job_id}"


def _matches(event: Event, where: LogFilter) -> bool:
    return (
        (where.names is None or event.name.value in where.names)
        and (where.actor is None or event.actor == where.actor)
        and (where.job_id is None or _subject(event) == _subject_of(where.job_id))
        and (where.subject is None or _subject(event) == where.subject)
        and (where.since is None or event.at >= where.since)
    )
