"""Reports: what finished since the last, in one statement, until every one has its verdict."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import islice

from ...domain.commands import Report
from ...domain.errors import TooSlow, Unavailable, UnknownOutcome
from ...domain.vocabulary import Verdict
from ..ports.job_store import JobStore
from ..ports.local_time import LocalTime
from .appetite import FEW, LINGER
from .attempt import Attempt
from .backoff import Backoff
from .bell import Bell
from .outcome import BAD_RESULT, bad_result
from .portion import Portion

_log = logging.getLogger(__name__)
BUSY_FIRST, BUSY_LONGEST = 0.05, 1.0


class Reporting:
    """Keeps finished attempts until they are answered.

    One statement is in flight at a time, and a second one as long as that leaves a full batch behind: the database
    answers it on another processor.
    """

    def __init__(
        self,
        store: JobStore,
        time: LocalTime,
        draw: Callable[[], float],
        settled: Callable[[Sequence[Attempt]], None],
        running: Callable[[], int],
        batch: int,
    ) -> None:
        """Take the collaborators; ``settled`` hears of the attempts that need no lease any more.

        ``running`` tells how many handlers run: while they are many, a few reports wait a moment for company.
        """
        self._running = running
        self._store, self._time, self._settled, self._batch = store, time, settled, batch
        self._portion = Portion(batch)
        self._draw, self._backoff = draw, Backoff(draw)
        self._waiting: dict[int, Attempt] = {}
        self._later: list[Attempt] = []
        self._in_flight = 0
        self._busy_tries = 0
        self._bell = Bell(time)

    @property
    def unreported(self) -> int:
        """How many reports have no verdict yet."""
        return len(self._waiting) + len(self._later) + self._in_flight

    @property
    def in_contact(self) -> bool:
        """Whether the last report was answered."""
        return self._backoff.tries == 0

    def add(self, attempt: Attempt) -> None:
        """Take an attempt whose ``report`` is set; a batch names a job once, so an older attempt goes first."""
        if attempt.job.token.job_id in self._waiting:
            self._later.append(attempt)
        else:
            self._waiting[attempt.job.token.job_id] = attempt
        self._bell.ring()

    async def run(self) -> None:
        """Report until cancelled; raises what breaks it, which only a bug can."""
        try:
            async with asyncio.TaskGroup() as group:
                await self._report(group)
        except ExceptionGroup as broken:
            raise broken.exceptions[0] from broken

    async def _report(self, group: asyncio.TaskGroup) -> None:
        relief = None
        while True:
            await self._bell.wait()
            while batch := await self._collect():
                if self._overflowing and (relief is None or relief.done()):
                    relief = group.create_task(self._relieve())
                await self._deliver(batch)

    @property
    def _overflowing(self) -> bool:
        return len(self._waiting) >= self._portion.now

    async def _relieve(self) -> None:
        """Report beside the other until it can do that alone again."""
        while self._overflowing:
            await self._deliver(self._next_batch())

    async def _deliver(self, batch: Sequence[Attempt]) -> None:
        busy = self._settle(batch, await self._ask(batch))
        self._in_flight -= len(batch)
        if busy:
            await self._put_back(busy)
        else:
            self._busy_tries = 0

    async def _collect(self) -> list[Attempt]:
        """Return the next batch; few reports of a worker with many handlers wait a moment for company."""
        if 0 < len(self._waiting) * FEW < min(self._running(), self._batch):
            await self._time.sleep(LINGER)
        return self._next_batch()

    def _next_batch(self) -> list[Attempt]:
        batch = list(islice(self._waiting.values(), self._portion.now))
        if len(batch) == len(self._waiting):
            self._waiting = {}
        else:
            for attempt in batch:
                del self._waiting[attempt.job.token.job_id]
        self._in_flight += len(batch)
        if self._later:
            later, self._later = self._later, []
            for attempt in later:
                self.add(attempt)
        return batch

    async def _ask(self, batch: Sequence[Attempt]) -> Sequence[Verdict | None]:
        """Repeat the same reports until they are answered; None stands for one that cannot be stored at all."""
        while True:
            try:
                reports = [attempt.report for attempt in batch if attempt.report is not None]
                verdicts = await self._store.report(reports)
            except (Unavailable, UnknownOutcome) as error:
                if isinstance(error, TooSlow) and self._portion.too_much(len(batch)):
                    return await self._halves(batch)
                if self._backoff.tries == 0:
                    _log.warning("report failed, repeating it: %s", error)
                await self._time.sleep(self._backoff.failed())
            except Exception as error:  # noqa: BLE001  one bad report must not hold up the others
                return await self._split(batch, error)
            else:
                assert len(verdicts) == len(batch)
                self._backoff.answered()
                self._portion.done(len(batch))
                return verdicts

    async def _split(self, batch: Sequence[Attempt], error: Exception) -> Sequence[Verdict | None]:
        """Find the report that the store chokes on; it becomes a failure of its job."""
        if len(batch) > 1:
            return await self._halves(batch)
        report = batch[0].report
        assert report is not None
        _log.error("report of %s cannot be stored: %r", describe_attempt(batch[0]), error)
        if _replaced(report):
            return [None]
        batch[0].report = bad_result(report, error, self._draw())
        return await self._ask(batch)

    async def _halves(self, batch: Sequence[Attempt]) -> Sequence[Verdict | None]:
        half = len(batch) // 2
        return [*await self._ask(batch[:half]), *await self._ask(batch[half:])]

    def _settle(self, batch: Sequence[Attempt], verdicts: Sequence[Verdict | None]) -> list[Attempt]:
        """Let go of what is answered and return what was busy."""
        busy, settled = [], []
        for attempt, verdict in zip(batch, verdicts, strict=True):
            if verdict is Verdict.BUSY:
                busy.append(attempt)
                continue
            if verdict is not Verdict.ACCEPTED:
                _note(attempt, verdict)
            settled.append(attempt)
        self._settled(settled)
        return busy

    async def _put_back(self, busy: Sequence[Attempt]) -> None:
        """Ask again with the next batch: at once when others are waiting, else after a while."""
        alone = not self._waiting
        for attempt in busy:
            self.add(attempt)
        pause = min(BUSY_LONGEST, BUSY_FIRST * 2.0 ** min(self._busy_tries, 10))
        self._busy_tries += 1
        if alone:
            await self._time.sleep(pause)


def _replaced(report: Report) -> bool:
    error = getattr(report, "error", None)
    return error is not None and error.type == BAD_RESULT


def describe_attempt(attempt: Attempt) -> str:
    """Name an attempt in a log line."""
    return f"job {attempt.job.token.job_id} attempt {attempt.job.token.attempt} ({attempt.job.type})"


def _note(attempt: Attempt, verdict: Verdict | None) -> None:
    if verdict is Verdict.REFUSED or verdict is Verdict.GONE:
        what = attempt.report.name if attempt.report is not None else None
        _log.warning("lease lost: %s of %s answered %s, dropped", what, describe_attempt(attempt), verdict)
