"""Our COMMIT is the only one: a handler's own is refused, and ours is watched."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, RootTransaction, event
from sqlalchemy.exc import DBAPIError

from ...domain.errors import InvalidInput, UnknownOutcome
from .outcome import Outcome


class CommitGuard:
    """Guards the transaction of one connection from its begin to its end."""

    def __init__(self, connection: Connection) -> None:
        """Guard a connection whose transaction has just begun."""
        self._connection = connection
        self._transaction: RootTransaction | None = connection.get_transaction()
        self._ours = False
        event.listen(connection, "commit", self._check)

    def check_open(self) -> None:
        """Raise InvalidInput when the handler has ended the transaction itself."""
        if self._transaction is None or not self._transaction.is_active:
            raise InvalidInput("ctx.transaction", "must not be ended by the handler")

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Watch over the COMMIT inside; raises UnknownOutcome when it was not, or not cleanly, acknowledged."""
        outcome, driver = Outcome(), self._connection.connection.driver_connection
        assert driver is not None
        driver.add_notice_handler(outcome.notice)
        self._ours = outcome.committing = True
        try:
            yield
            outcome.check_commit()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise UnknownOutcome("the reply to COMMIT was lost") from error
            raise
        except TimeoutError as error:
            raise UnknownOutcome("COMMIT was not answered in time") from error
        finally:
            driver.remove_notice_handler(outcome.notice)

    def _check(self, _: Any) -> None:
        if not self._ours:
            self._connection.invalidate()  # SQLAlchemy believes that it is committed and would not roll back
            raise InvalidInput("ctx.transaction", "commits when its block ends: the handler must not")
