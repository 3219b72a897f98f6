"""What a database error means to the caller: nothing changed, nobody knows, or the values cannot be stored."""

import psycopg
from psycopg.errors import CheckViolation, DeadlockDetected, NotNullViolation, SerializationFailure

from ...domain.errors import InvalidInput, TooSlow, Unavailable, UnknownOutcome

TRANSIENT = (SerializationFailure, DeadlockDetected)
"""Rolled back by the server for others' sake: run it again."""
_CANCELLED = "57014"  # by a timeout, or by an administrator

_UNAVAILABLE = {
    "08",  # connection exceptions
    "25006",  # a read-only transaction, as on a standby or during failover
    "25P03",  # idle in a transaction for too long
    "25P04",  # the transaction took too long
    "53",  # out of disk, memory or connections
    "55",  # locks not available in time
    "57",  # the server is shutting down or starting
    "58",  # input and output errors of the server
    "XX",  # the server's own faults: the statement was rolled back, whatever it was
}
_UNSTORABLE = {"22", "54"}  # data exceptions, limits exceeded


class Unstorable(InvalidInput):
    """PostgreSQL cannot store one of the values of a statement; a batch may be split until the culprit is alone."""

    def __init__(self, rule: str) -> None:
        """Keep the server's words, which seldom tell which value it was."""
        super().__init__("values", rule)


REFUSED = (Unstorable, CheckViolation, NotNullViolation)
"""The database takes none of these values, whoever brings them and however often."""
_PASSING = (
    Unavailable,
    UnknownOutcome,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    OSError,
    MemoryError,
)


class SyncWaitCancelled(UnknownOutcome):
    """The commit came with a warning: a standby has not confirmed it, so a failover may forget it."""


def passes(error: Exception) -> bool:
    """Whether an error tells of the database or the machine, and not of what was to be done."""
    return isinstance(error, _PASSING)


def said(error: Exception) -> str:
    """Return an error's words for people, without the details, in which the server shows whole rows."""
    source = error.__cause__ if isinstance(error, Unstorable) else error
    told = source.diag.message_primary if isinstance(source, psycopg.Error) else None
    return told or words(error)


def translated(error: Exception, *, in_doubt: bool) -> Exception:
    """Return the domain's error for a driver's; errors that only a bug explains are returned as they are.

    ``in_doubt``: the connection broke while a change may have been committing.
    """
    if in_doubt:
        return UnknownOutcome(f"the reply was lost: {words(error)}")
    if isinstance(error, TRANSIENT):
        return Unavailable(f"gave up after several attempts: {words(error)}")
    if isinstance(error, UnicodeError):
        return Unstorable(str(error))
    if isinstance(error, TimeoutError):
        return Unavailable("the database did not answer in time")
    if not isinstance(error, psycopg.Error):
        return error
    return _by_state(error)


def _by_state(error: psycopg.Error) -> Exception:
    state = error.sqlstate or ""
    if state[:2] in _UNSTORABLE or (not state and isinstance(error, psycopg.DataError)):
        return Unstorable(words(error))
    if state == _CANCELLED:
        return TooSlow(words(error))
    if {state, state[:2]} & _UNAVAILABLE or (not state and isinstance(error, psycopg.OperationalError)):
        return Unavailable(words(error))
    return error


def words(error: Exception) -> str:
    """Return an error as one line."""
    return " ".join(str(error).split()) or type(error).__name__
