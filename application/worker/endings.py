"""Endings: from the end of a handler, or from giving up on it, to its report."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ...domain.commands import Report
from .attempt import Attempt, Cause
from .ledger import Ledger
from .outcome import conclude, released, timed_out
from .reporting import Reporting, describe_attempt

_log = logging.getLogger(__name__)


class Endings:
    """Each attempt is reported at most once; whatever its handler does later is dropped."""

    def __init__(self, ledger: Ledger, reporting: Reporting) -> None:
        """Take the collaborators."""
        self._ledger, self._reporting = ledger, reporting
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self) -> None:
        """Belong to the running loop: the worker's."""
        self._loop = asyncio.get_running_loop()

    def ended(self, attempt: Attempt, result: Any, error: BaseException | None) -> None:
        """Take a handler's outcome: its slot is free, its report is on the way."""
        attempt.ended = True
        self._ledger.vacate(attempt)
        if attempt.report is not None:
            _log.warning("late end of %s dropped: it was reported without it", describe_attempt(attempt))
            return
        self._report(attempt, conclude(attempt, result, error))

    def completed(self, attempt: Attempt) -> None:
        """Let go of a job that succeeded in its handler's transaction; may be called from the handler's thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ledger.settle, attempt)

    def overran(self, attempt: Attempt) -> None:
        """Report a timeout although the handler goes on; may be called from any thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._abandon, attempt, timed_out)

    def release(self, attempt: Attempt) -> None:
        """Hand a job back, whether its handler has begun or not."""
        self._abandon(attempt, released)

    def _abandon(self, attempt: Attempt, report: Callable[[Attempt], Report]) -> None:
        if attempt.ended or attempt.completed or attempt.report is not None:
            return
        if attempt.cause is Cause.LOST:
            self._ledger.settle(attempt)
        else:
            self._report(attempt, report(attempt))

    def _report(self, attempt: Attempt, report: Report | None) -> None:
        if report is not None:
            attempt.report = report
            if error := getattr(report, "error", None):
                _log.warning("%s failed: %s: %s", describe_attempt(attempt), error.type, error.message)
            self._reporting.add(attempt)
            return
        if attempt.cause is Cause.LOST:
            _log.warning("lease lost: %s stopped", describe_attempt(attempt))
        self._ledger.settle(attempt)
