"""A second event loop, so that handlers that block the worker's own do not stop its heartbeats."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Background(Protocol):
    """Runs coroutines beside the worker's loop."""

    async def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``work`` over there and return or raise what it does; cancelling the call cancels it."""
        ...

    def close(self) -> None:
        """Stop the loop; what still runs on it is cancelled."""
        ...
