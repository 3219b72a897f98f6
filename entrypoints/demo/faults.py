"""The two disasters of the demo: a worker killed without warning, and one frozen past its lease."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

from attrs import frozen

from ...application.ports.event_log import EventLog, LogFilter
from ...application.ports.job_reader import JobFilter, JobReader
from ...domain.errors import FencepostError
from ...domain.event import ControlEvent, JobEvent
from ...domain.job import Job
from ...domain.vocabulary import ControlEventName, EventName, State
from ..fleet import Fleet
from .plan import LINGERS

PATIENCE = 60.0
"""Seconds until the demo gives up waiting for something that must happen."""

T = TypeVar("T")


class DemoFailed(FencepostError):
    """Something that must happen did not."""


async def eventually(what: str, look: Callable[[], Awaitable[T | None]]) -> T:
    """Look again and again until there is something to see; raises DemoFailed after a minute."""
    try:
        async with asyncio.timeout(PATIENCE):
            while (seen := await look()) is None:  # noqa: ASYNC110 - other processes act
                await asyncio.sleep(0.05)
            return seen
    except TimeoutError as error:
        raise DemoFailed(f"waited {PATIENCE:g} s in vain until {what}") from error


@frozen
class Taken:
    """A job whose lease lapsed: who lost it, and the event that shows the new claim."""

    job_id: int
    lost_by: str
    claimed_again: JobEvent


@frozen
class Disasters:
    """Strikes workers and reads from the history what became of their jobs."""

    fleet: Fleet
    reader: JobReader
    log: EventLog

    async def kill(self, name: str, pid: int) -> list[Job]:
        """Kill a worker with -9 while it runs jobs; returns the jobs it held."""
        await self._busy(pid)
        self.fleet.signal(name, signal.SIGKILL)
        return await self._held(pid)

    async def freeze(self, name: str, pid: int) -> list[Job]:
        """Stop a worker with SIGSTOP while it runs jobs; returns the jobs it holds."""
        while True:
            await self._busy(pid)
            self.fleet.signal(name, signal.SIGSTOP)
            if held := await self._held(pid):
                return held
            self.fleet.signal(name, signal.SIGCONT)  # it finished them just before it stopped

    async def taken_over(self, jobs: list[Job]) -> Taken:
        """Wait until the history shows that one of the jobs lost its lease and was claimed by another worker."""
        return await eventually("a lost job is claimed by another worker", lambda: self._taken(jobs))

    async def thaw(self, name: str, lost_by: str) -> ControlEvent:
        """Wake a frozen worker and wait until a late report of a job that it lost is refused.

        Of any job: what it had claimed and not begun when it was struck, it drops without a report.
        """
        self.fleet.signal(name, signal.SIGCONT)
        return await eventually("a late report is refused", lambda: self._refused(lost_by))

    async def _busy(self, pid: int) -> None:
        async def look() -> bool | None:
            held = await self._held(pid)
            return any(f'"lingers":{LINGERS}' in (job.payload or "") for job in held) or None

        await eventually(f"the worker with process id {pid} is in the middle of jobs", look)

    async def _held(self, pid: int) -> list[Job]:
        running = await self.reader.page(JobFilter(states=frozenset({State.RUNNING})), limit=500)
        return [job for job in running if f"-{pid}-" in (job.worker or "")]

    async def _taken(self, jobs: list[Job]) -> Taken | None:
        for job in jobs:
            lapsed = False  # a job may also go on by a report that was under way when its worker was struck
            for event in await self.log.history(job.job_id):
                if event.name == EventName.LEASE_EXPIRED and event.attempt == job.attempt:
                    lapsed = True
                elif event.name == EventName.CLAIMED and lapsed and event.actor != job.worker:
                    return Taken(job.job_id, job.worker or "", event)
        return None

    async def _refused(self, lost_by: str) -> ControlEvent | None:
        refused = LogFilter(names=frozenset({ControlEventName.REPORT_REFUSED}), actor=lost_by)
        for event in await self.log.page(refused, limit=1):
            if isinstance(event, ControlEvent):
                return event
        return None
