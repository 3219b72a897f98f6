"""One claimed job on its way through a worker: from the claim to the verdict."""

import math
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any

import msgspec
from attrs import define, frozen

from ...domain.commands import HandlerTimes, Origin, Report
from ...domain.errors import InvalidInput
from ...domain.values import decode
from ..handlers import Handler
from ..ports.executor import Running
from ..ports.job_store import ClaimedJob
from ..ports.local_time import LocalTime
from ..ports.transactions import CompletingTransactions

_read = msgspec.json.Decoder(dict[str, Any]).decode


class Cause(Enum):
    """Why a handler was told to stop."""

    CANCEL = auto()
    TIMEOUT = auto()
    DRAIN = auto()
    LAPSED = auto()
    """The local lease ended without an acknowledged renewal: contact is lost."""
    LOST = auto()
    """The store said that the lease is lost."""


class NotStarted(Exception):
    """The handler was not called: its attempt was told to stop before, or its local lease had ended."""


class BadPayload(Exception):
    """The payload cannot be turned into the handler's arguments."""


@frozen
class Services:
    """What attempts of one worker share; ``ended`` and ``completed`` tell the worker about this one.

    ``expect`` tells of a moment at which it may have to be stopped.
    """

    origin: Origin
    time: LocalTime
    draw: Callable[[], float]
    transactions: CompletingTransactions
    context: Callable[["Attempt"], Any]
    expect: Callable[[float], None]
    ended: Callable[["Attempt", Any, BaseException | None], None]
    completed: Callable[["Attempt"], None]
    renew: Callable[["Attempt"], Awaitable[None]]


@define(eq=False)
class Attempt:
    """Belongs to the worker's loop, with two exceptions, each a single assignment.

    The background loop writes ``lease_end`` and ``cause``; the handler's thread writes ``started``, ``deadline`` and
    ``seen``. Moments are of the monotonic clock.
    """

    job: ClaimedJob
    handler: Handler
    services: Services
    lease: float
    lease_end: float
    slots: str
    """The queue of the worker whose slot it takes: the one it was claimed from."""
    sent: float
    """When its claim was sent."""
    running: Running | None = None
    started: float | None = None
    deadline: float = math.inf
    cause: Cause | None = None
    halted_at: float = 0.0
    seen: bool = False
    """The handler has read that it should stop."""
    result: str | None = None
    """JSON text that the handler has set beside its return value."""
    completing: bool = False
    completed: bool = False
    """The job succeeded in the handler's own transaction."""
    ended: bool = False
    report: Report | None = None

    def begin(self) -> Any:
        """Call the handler; raises NotStarted when it may no longer start."""
        now = self.services.time.monotonic()
        if self.cause is not None or now >= self.lease_end:
            raise NotStarted
        self.started = now
        if self.job.timeout is not None:
            self.deadline = now + self.job.timeout.total_seconds()
            self.services.expect(self.deadline)
        return self.handler.call(self.services.context(self), **self._arguments())

    def end(self, result: Any, error: BaseException | None) -> None:
        """Take the handler's outcome."""
        self.services.ended(self, result, error)

    def halt(self, cause: Cause, now: float) -> bool:
        """Note why the handler should stop; True when that is news and its executor has to be told.

        While the handler's own transaction commits, the commit alone decides.
        """
        if self.ended or self.completing or self.completed:
            return False
        news = self.cause is None
        if news or cause is Cause.LOST:
            self.cause, self.halted_at = cause, now
        return news

    def times(self) -> HandlerTimes | None:
        """Return when the handler started and how long it ran; None when it never started."""
        if self.started is None:
            return None
        ran_us = int((self.services.time.monotonic() - self.started) * 1_000_000)
        return HandlerTimes(self.services.time.epoch_us() - ran_us, ran_us)

    def _arguments(self) -> Any:
        payload = self.job.payload
        if payload is None:
            raise BadPayload("the payload was erased")
        try:
            return self.handler.bind(_members(payload))
        except Exception as error:
            raise BadPayload(str(error)) from error


def _members(payload: str) -> dict[str, Any]:
    """Return a stored payload's members.

    The strict reader is much slower: it reads what is faulty, for its words, and what may repeat a key, which is sure
    not to when there are no more colons than members.
    """
    try:
        members = _read(payload)
    except msgspec.MsgspecError:
        members = None
    if members is not None and payload.count(":") == len(members) and "\\" not in payload:
        return members
    value = decode("payload", payload)
    if not isinstance(value, dict):
        raise InvalidInput("payload", "must be a JSON object")
    return value
