"""What became of a transaction whose end was not heard."""

from typing import Any

import psycopg
from psycopg.errors import Diagnostic

from ...domain.errors import Unavailable
from .errors import TRANSIENT, SyncWaitCancelled, translated

_WARNING = "01000"
_DRIVERS = (psycopg.Error, UnicodeError, TimeoutError)


class Outcome:
    """Watches one transaction: a change that may be committing when the connection breaks is in doubt.

    Used as a block, it translates a driver's errors to the domain's. Not a generator, which would take longer: every
    statement runs in such a block.
    """

    __slots__ = ("broken", "committing", "warned", "wrote")

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.wrote = False
        self.committing = False
        self.broken = False
        self.warned = False

    def __enter__(self) -> None:
        """Let errors through from here on only as ``meaning`` has them."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Raise what an error means; everything that is not a driver's is let through."""
        if isinstance(error, _DRIVERS):
            meaning = self.meaning(error)
            if meaning is not error:
                raise meaning from error

    def notice(self, diagnostic: Diagnostic) -> None:
        """Take note of a warning: the one that comes with a commit says that a standby did not confirm it."""
        self.warned = self.warned or (self.committing and diagnostic.sqlstate == _WARNING)

    def check_commit(self) -> None:
        """Raise SyncWaitCancelled when the commit came with a warning."""
        if self.warned:
            raise SyncWaitCancelled("the wait for a standby's confirmation was cancelled")

    def meaning(self, error: Exception) -> Exception:
        """Return the domain's error for a driver's."""
        silent = self.broken or isinstance(error, TimeoutError)
        return translated(error, in_doubt=self.committing and silent)

    def worth_repeating(self, error: Unavailable) -> bool:
        """Whether the same plan may succeed at once: rolled back for others' sake, or the connection was stale."""
        return self.broken or isinstance(error.__cause__, TRANSIENT)

    def left(self, connection: psycopg.BaseConnection[Any]) -> None:
        """Take note of the connection's state at the end."""
        self.broken = connection.closed
