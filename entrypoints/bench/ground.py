"""What every figure is measured with, and what it comes to."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import field, frozen

from ...adapters.postgres.benching.questions import Questions
from ...domain.errors import FencepostError
from ..fleet import Fleet
from ..library.app import Fencepost
from ..library.job_type import JobType
from .plan import Plan

APP = "fencepost.entrypoints.bench.jobs:app"
READY_WITHIN = 30.0
"""Seconds a worker gets to start and become idle."""
LOOK = 0.02


class BenchFailed(FencepostError):
    """A figure could not be measured."""


@frozen(kw_only=True)
class Figure:
    """``note`` is for people, ``details`` for programs; ``cut`` says that time was up before all was done."""

    name: str
    value: float
    unit: str
    note: str
    details: Mapping[str, Any] = field(factory=dict)
    cut: bool = False


@frozen(kw_only=True)
class Ground:
    """An app and a worker over one migrated schema, where nobody else works."""

    plan: Plan
    app: Fencepost
    noop: JobType[[int]]
    questions: Questions
    fleet: Fleet

    @asynccontextmanager
    async def worker(self, queue: str, slots: int) -> AsyncIterator[None]:
        """Run one worker process for the block; raises BenchFailed when it does not become idle."""
        served = ("--queues", f"{queue}:{slots}", "--processes", "1", "--drain-grace", "1s")
        self.fleet.start("worker", "worker", APP, *served)
        try:
            if not await self.until(self.questions.idle, READY_WITHIN):
                raise BenchFailed(f"the worker was not ready within {READY_WITHIN:g} s")
            yield
        finally:
            await asyncio.to_thread(self.fleet.stop)

    async def until(self, look: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        """Look until it is so, or for so long; raises BenchFailed when the worker is lost."""
        end = time.perf_counter() + seconds
        while not await look():
            self.alive()
            if time.perf_counter() > end:
                return False
            await asyncio.sleep(LOOK)
        return True

    def alive(self) -> None:
        """Raise BenchFailed when the worker has ended."""
        if ended := self.fleet.ended():
            [code] = ended.values()
            raise BenchFailed(f"the worker ended with exit code {code}: {self.fleet.last_words(3)}")
