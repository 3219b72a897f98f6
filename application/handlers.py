"""What a worker can run: handlers by job type."""

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from attrs import field, frozen

from ..domain.errors import FencepostError

ExecutorName = Literal["async", "thread"]


class Snooze(Exception):
    """Raised by a handler: run me again after this delay, at no cost to the retry budget."""

    def __init__(self, delay: Any) -> None:
        """Take a timedelta, seconds, or text such as ``10m``."""
        super().__init__(delay)
        self.delay = delay


class Discard(Exception):
    """Raised by a handler: retrying is useless, the job is dead now."""

    def __init__(self, reason: str = "") -> None:
        """Keep the reason; it becomes the error's message."""
        super().__init__(reason)
        self.reason = reason


class Retry(Exception):
    """Raised by a handler: this attempt failed, try again after this delay instead of the policy's."""

    def __init__(self, delay: Any, reason: str = "") -> None:
        """Take a timedelta, seconds, or text such as ``10m``."""
        super().__init__(reason)
        self.delay = delay
        self.reason = reason


class Failed(Exception):
    """Raised by a handler: this attempt failed, and these are the texts to keep of it instead of the exception's."""

    def __init__(self, kind: str, message: str, details: str | None = None) -> None:
        """Name the kind of failure, as an exception's type would; details take the place of a traceback."""
        super().__init__(message)
        self.kind, self.message, self.details = kind, message, details


class Stopped(CancelledError):
    """Raised by a handler that has stopped when it was told to; after a timeout the details are kept."""

    def __init__(self, details: str | None = None) -> None:
        """Say what is worth knowing of what was stopped; it takes the place of a traceback."""
        super().__init__()
        self.details = details


class HandlerClash(FencepostError):
    """Two handlers are registered under one type."""


@frozen
class Handler:
    """A type's code. ``bind`` turns a decoded payload into arguments and raises InvalidInput for a bad one.

    ``call`` receives the context and, as keyword arguments, what ``bind`` returned; it is a
    coroutine function for ``async``, a plain function for ``thread``.
    """

    type: str
    queue: str
    call: Callable[..., Any]
    executor: ExecutorName = "async"
    bind: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict


@frozen
class Handlers:
    """All handlers of one app."""

    _by_type: dict[str, Handler] = field(factory=dict)

    def add(self, handler: Handler) -> None:
        """Register a handler; raises HandlerClash when its type is taken."""
        if handler.type in self._by_type:
            raise HandlerClash(f"type {handler.type!r} already has a handler")
        self._by_type[handler.type] = handler

    def get(self, type: str) -> Handler | None:
        """Return the handler of a type."""
        return self._by_type.get(type)

    @property
    def types(self) -> frozenset[str]:
        """The types that can be run."""
        return frozenset(self._by_type)

    @property
    def queues(self) -> frozenset[str]:
        """The queues that the handlers name."""
        return frozenset(handler.queue for handler in self)

    def __iter__(self) -> Iterator[Handler]:
        """Go through the handlers in order of registration."""
        return iter(self._by_type.values())
