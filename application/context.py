"""What a handler gets to know about its job, and what it can ask for."""

import logging
from asyncio import CancelledError
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from typing import Any

import structlog

from ..domain.commands import Succeed
from ..domain.errors import LeaseLost
from ..domain.job import derived_effect_key
from ..domain.limits import RESULT_BYTES
from ..domain.values import encode
from .worker.attempt import Attempt, Cause

LOGGER = "fencepost.job"


class Context:
    """One attempt, as its handler sees it."""

    __slots__ = ("_attempt", "_log")

    def __init__(self, attempt: Attempt) -> None:
        """Show this attempt."""
        self._attempt = attempt
        self._log: Any = None

    @property
    def job_id(self) -> int:
        """The job."""
        return self._attempt.job.token.job_id

    @property
    def type(self) -> str:
        """The name the handler is registered under."""
        return self._attempt.job.type

    @property
    def queue(self) -> str:
        """The queue it was claimed from."""
        return self._attempt.job.queue

    @property
    def attempt(self) -> int:
        """The number of claims so far, this one included."""
        return self._attempt.job.token.attempt

    @property
    def failures(self) -> int:
        """The attempts before this one that used up retry budget."""
        return self._attempt.job.failures

    @property
    def token(self) -> tuple[int, int]:
        """Grows with each claim: what the effect downstream can fence with."""
        return self.job_id, self.attempt

    @property
    def idempotency_key(self) -> str:
        """Stable over all attempts of the job: hand it to the effect downstream."""
        return self._attempt.job.effect_key or derived_effect_key(self.job_id)

    @property
    def scheduled_for(self) -> datetime:
        """The fire time that a schedule's job serves, however late it is; when any other job was due."""
        return self._attempt.job.scheduled_for or self._attempt.job.run_at

    @property
    def deadline(self) -> datetime | None:
        """When the timeout will strike, on this machine's clock; informative. None without a timeout."""
        if self._attempt.job.timeout is None:
            return None
        time = self._attempt.services.time
        return time.wall() + timedelta(seconds=self._attempt.deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether the handler should stop: cancel, timeout, the worker's end, or a lost lease.

        A handler that has read True here and then returns None has stopped for it; one that returns a result has
        finished all the same.
        """
        if self._attempt.cause is None:
            return False
        self._attempt.seen = True
        return True

    def raise_if_cancelled(self) -> None:
        """Raise CancelledError when the handler should stop: for plain functions, between two steps."""
        if self.cancelled:
            raise CancelledError

    async def heartbeat(self) -> None:
        """Extend the lease now; raises LeaseLost when the job is no longer this attempt's.

        The worker extends it by itself all the time: this is for handlers that want to be sure before an effect.
        """
        attempt = self._attempt
        await attempt.services.renew(attempt)
        if attempt.cause is Cause.LOST or attempt.services.time.monotonic() >= attempt.lease_end:
            raise LeaseLost(f"job {self.job_id} attempt {self.attempt}")

    def set_result(self, value: Any) -> None:
        """Store a result: for handlers that complete their job in a transaction. Raises InvalidInput."""
        self._attempt.result = encode("result", value, RESULT_BYTES)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """Yield a connection whose writes commit together with the job's success, or not at all.

        Raises LeaseLost, with everything rolled back, when the job is no longer this attempt's. The job has succeeded
        when the block is left without an exception.
        """
        with self._completion():
            async with self._attempt.services.transactions.open(self._success) as connection:
                yield connection

    @contextmanager
    def transaction_sync(self) -> Iterator[Any]:
        """Do as ``transaction`` does, for handlers in threads."""
        with self._completion(), self._attempt.services.transactions.open_sync(self._success) as connection:
            yield connection

    @property
    def log(self) -> Any:
        """A structlog logger bound to this attempt; it writes to the standard logger ``fencepost.job``."""
        if self._log is None:
            self._log = structlog.wrap_logger(
                logging.getLogger(LOGGER),
                processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
                wrapper_class=structlog.stdlib.BoundLogger,
            ).bind(job_id=self.job_id, type=self.type, attempt=self.attempt)
        return self._log

    def _success(self) -> Succeed:
        """Return the report to write before COMMIT; from here on the commit alone decides."""
        attempt = self._attempt
        attempt.completing = True
        return Succeed(
            origin=attempt.services.origin,
            token=attempt.job.token,
            result=attempt.result,
            times=attempt.times(),
        )

    @contextmanager
    def _completion(self) -> Iterator[None]:
        attempt = self._attempt
        try:
            yield
        except LeaseLost:
            attempt.cause = Cause.LOST
            raise
        else:
            attempt.completed = True
            attempt.services.completed(attempt)
        finally:
            attempt.completing = False
