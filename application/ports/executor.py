"""Executors: where a handler's code runs."""

from typing import Any, Protocol


class Work(Protocol):
    """One handler call, told when it begins and how it ended."""

    def begin(self) -> Any:
        """Call the handler: for coroutines this returns the awaitable, for threads the result. May raise."""
        ...

    def end(self, result: Any, error: BaseException | None) -> None:
        """Take the outcome: called exactly once, on the worker's event loop, unless that loop has closed."""
        ...


class Running(Protocol):
    """Work that was handed to an executor."""

    def cancel(self) -> object:
        """Ask it to stop, as far as the technology can; it may end with a result all the same."""
        ...


class Executor(Protocol):
    """Runs any number of works side by side: the worker's slots are the bound."""

    def start(self, work: Work) -> Running:
        """Begin soon and return at once; called on the worker's event loop. Nothing a work raises escapes."""
        ...

    def close(self) -> None:
        """Accept no more; what still runs is left alone and does not keep the process alive."""
        ...
