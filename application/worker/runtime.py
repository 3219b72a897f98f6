"""The worker: claim, run, heartbeat, report, until it is told to stop."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.commands import Origin
from ...domain.errors import InvalidInput
from ...domain.vocabulary import CommandName
from ..context import Context
from ..handlers import Handlers
from ..ports.background import Background
from ..ports.executor import Executor
from ..ports.job_store import JobStore
from ..ports.local_time import LocalTime
from ..ports.queue_store import QueueStore
from ..ports.transactions import CompletingTransactions
from ..ports.wakeups import Wakeups
from .attempt import Attempt, Services
from .backoff import Backoff
from .bell import Bell
from .claiming import Claiming
from .draining import Draining
from .endings import Endings
from .execution import Execution
from .fetching import Fetching
from .halting import Halting
from .heartbeats import Heartbeats
from .ledger import Ledger
from .reporting import Reporting
from .rooms import Rooms
from .settings import WorkerSettings
from .watch import Watch

_log = logging.getLogger(__name__)

RETURNS = frozenset({CommandName.FAIL, CommandName.TIMEOUT, CommandName.SNOOZE, CommandName.RELEASE})
"""Reports after which a job may be pending again."""


@frozen(kw_only=True)
class WorkerPorts:
    """What a worker is built on; its owner opens and closes all of it.

    ``claims``, ``reports`` and ``heartbeats`` work at the same time, ``heartbeats`` on the ``background`` loop.
    """

    claims: JobStore
    reports: JobStore
    heartbeats: JobStore
    queues: QueueStore
    wakeups: Wakeups
    transactions: CompletingTransactions
    executors: Mapping[str, Executor]
    background: Background
    time: LocalTime
    draw: Callable[[], float]
    new_claim_id: Callable[[], str]


class Worker:
    """One worker; runs once."""

    def __init__(self, settings: WorkerSettings, handlers: Handlers, ports: WorkerPorts) -> None:
        """Wire the parts; raises InvalidInput when there is nothing to run."""
        _check(handlers, ports)
        self._ports = ports
        time, draw = ports.time, ports.draw
        self._room, self._quiet = Bell(time), Bell(time)
        self._ledger = Ledger(settings.queues, self._room, self._quiet)
        self._halting = Halting(time)
        self._reporting = Reporting(
            ports.reports,
            time,
            draw,
            self._settled,
            lambda: len(self._ledger.running),
            settings.batch,
        )
        self._endings = Endings(self._ledger, self._reporting)
        self._watch = Watch(
            self._ledger.running,
            time,
            self._halting.halt,
            self._endings.overran,
            settings.stop_grace.total_seconds(),
        )
        self._heartbeats = Heartbeats(
            ports.heartbeats,
            self._ledger.held,
            time,
            ports.background,
            draw,
            self._halting.halt,
            settings.heartbeat,
        )
        origin = Origin(settings.worker, build=settings.build)
        self._execution = Execution(
            handlers,
            ports.executors,
            self._services(origin),
            self._ledger,
            self._endings,
            self._heartbeats,
            self._watch,
        )
        self._fetching = Fetching(
            settings,
            ports.queues,
            ports.wakeups,
            time,
            Backoff(draw),
            self._room,
            Rooms(settings, self._ledger, self._reporting),
        )
        self._claiming = Claiming(
            ports.claims, origin, handlers.types, ports.new_claim_id, time, self._fetching.insist
        )
        self._draining = Draining(
            settings, time, self._ledger, self._halting, self._endings, self._reporting, self._quiet
        )
        self._stopped, self._aborted = asyncio.Event(), asyncio.Event()

    @property
    def in_contact(self) -> bool:
        """Whether the database answered the last time it was asked, on every path."""
        return self._fetching.in_contact and self._reporting.in_contact and self._heartbeats.in_contact

    @property
    def running(self) -> int:
        """How many handlers run now."""
        return len(self._ledger.running)

    def stop(self) -> None:
        """Claim no more, let handlers finish within the drain grace, hand back the rest."""
        self._execution.stopping = True
        self._execution.hand_back()
        self._fetching.stop()
        self._stopped.set()

    def abort(self) -> None:
        """Stop at once: nothing is waited for, nothing more is reported, the leases run out."""
        self._aborted.set()

    async def run(self) -> None:
        """Work until stopped or aborted; raises what broke one of the worker's own loops, after draining."""
        work = asyncio.ensure_future(self._work())
        aborted = asyncio.ensure_future(self._aborted.wait())
        try:
            await asyncio.wait({work, aborted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            aborted.cancel()
            if not work.done():
                work.cancel()
                self._drop_handlers()
            await asyncio.gather(work, return_exceptions=True)
        if not work.cancelled():
            work.result()

    async def _work(self) -> None:
        self._halting.attach()
        self._endings.attach()
        await self._ports.background.call(self._attach)
        fetching = asyncio.ensure_future(self._fetching.run(self._claiming, self._execution))
        loops = [
            fetching,
            asyncio.ensure_future(self._reporting.run()),
            asyncio.ensure_future(self._ports.background.call(self._heartbeats.run)),
            asyncio.ensure_future(self._ports.background.call(self._watch.run)),
        ]
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({stopped, *loops}, return_when=asyncio.FIRST_COMPLETED)
            broken = [loop for loop in loops if loop.done() and not self._stopped.is_set()]
            self.stop()
            await self._draining.run(fetching)
            for loop in broken:
                loop.result()
        finally:
            for task in (stopped, *loops):
                task.cancel()
            await asyncio.gather(stopped, *loops, return_exceptions=True)

    async def _attach(self) -> None:
        """Let the worker's loop and handlers' threads ring what waits on the background loop."""
        self._heartbeats.bell.attach()
        self._watch.bell.attach()

    def _settled(self, attempts: Sequence[Attempt]) -> None:
        """Let go of reported attempts; jobs that may be pending again are looked for, to learn when they are due."""
        self._ledger.settle(*attempts)
        for queue in {one.slots for one in attempts if one.report is not None and one.report.name in RETURNS}:
            self._fetching.revisit(queue)

    def _drop_handlers(self) -> None:
        self._ledger.prefetch.clear()
        for attempt in tuple(self._ledger.running):
            if attempt.running is not None:
                attempt.running.cancel()

    def _services(self, origin: Origin) -> Services:
        def ended(attempt: Attempt, result: Any, error: BaseException | None) -> None:
            self._endings.ended(attempt, result, error)
            self._execution.vacated(attempt)

        return Services(
            origin=origin,
            time=self._ports.time,
            draw=self._ports.draw,
            transactions=self._ports.transactions,
            context=Context,
            expect=self._watch.expect,
            ended=ended,
            completed=self._endings.completed,
            renew=self._heartbeats.renew,
        )


def _check(handlers: Handlers, ports: WorkerPorts) -> None:
    if not handlers.types:
        raise InvalidInput("handlers", "must register at least one type")
    if missing := {handler.executor for handler in handlers} - set(ports.executors):
        raise InvalidInput("executors", f"must include {', '.join(sorted(missing))}")
