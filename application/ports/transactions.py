"""``ctx.transaction()``: a handler's own writes and its job's success, committed together or not at all."""

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Protocol

from ...domain.commands import Succeed


class CompletingTransactions(Protocol):
    """Opens READ COMMITTED transactions whose last statement before COMMIT is the fenced ``succeed``."""

    def open(self, success: "Success") -> AbstractAsyncContextManager[Any]:
        """Yield a connection to the job's database.

        Raises LeaseLost, with everything rolled back, when the token no longer opens the job at the end. An unknown
        COMMIT is resolved by repeating the report before the block is left.
        """
        ...

    def open_sync(self, success: "Success") -> AbstractContextManager[Any]:
        """Yield a synchronous connection, for handlers in threads."""
        ...


class Success(Protocol):
    """The report to write, asked for when the block is left: the result may be known only then."""

    def __call__(self) -> Succeed:
        """Return the report."""
        ...
