"""What a driver's error means to callers."""

import psycopg
import pytest
from psycopg import errors

from fencepost.adapters.postgres.errors import Unstorable, passes, said, translated
from fencepost.domain.errors import TooSlow, Unavailable, UnknownOutcome


@pytest.mark.parametrize(
    "error",
    [
        errors.ReadOnlySqlTransaction(),
        errors.DiskFull(),
        errors.LockNotAvailable(),
        errors.AdminShutdown(),
        errors.IoError(),
        errors.InternalError_(),
        errors.DataCorrupted(),
        errors.DeadlockDetected(),
        psycopg.OperationalError("connection refused"),
        TimeoutError(),
    ],
)
def test_what_rolled_a_statement_back_for_no_fault_of_its_values_may_be_tried_again(error: Exception) -> None:
    """A worker waits and asks again: neither its process nor a job's result is lost to the server's trouble."""
    assert type(translated(error, in_doubt=False)) is Unavailable


def test_a_statement_cut_off_by_its_time_limit_is_too_slow() -> None:
    """The caller may ask for less at a time."""
    assert type(translated(errors.QueryCanceled(), in_doubt=False)) is TooSlow


@pytest.mark.parametrize(
    "error", [errors.InvalidTextRepresentation(), errors.ProgramLimitExceeded(), UnicodeError("surrogate")]
)
def test_values_that_cannot_be_stored_are_told_apart(error: Exception) -> None:
    """Only these let a batch be split until the culprit is alone."""
    assert type(translated(error, in_doubt=False)) is Unstorable


def test_a_reply_lost_while_a_change_was_committing_is_an_unknown_outcome() -> None:
    """Whatever the driver calls it."""
    assert type(translated(errors.AdminShutdown(), in_doubt=True)) is UnknownOutcome


def test_what_only_a_bug_explains_stays_as_it_is() -> None:
    """A statement that cannot be right is not tried for ever."""
    error = errors.UndefinedColumn()
    assert translated(error, in_doubt=False) is error


@pytest.mark.parametrize(
    "error",
    [
        Unavailable(),
        TooSlow(),
        UnknownOutcome(),
        errors.InvalidPassword(),
        psycopg.InterfaceError(),
        OSError(),
        MemoryError(),
    ],
)
def test_what_tells_of_the_machine_passes(error: Exception) -> None:
    """Nobody is set aside for it."""
    assert passes(error)


@pytest.mark.parametrize(
    "error",
    [
        Unstorable("too long"),
        errors.CheckViolation(),
        errors.UniqueViolation(),
        errors.RaiseException(),
        errors.UndefinedColumn(),
        OverflowError(),
        TypeError(),
    ],
)
def test_what_tells_of_the_work_does_not_pass(error: Exception) -> None:
    """It would fail again at once."""
    assert not passes(error)


def test_errors_without_words_are_told_by_their_kind() -> None:
    """And those of several lines in one."""
    assert (said(KeyError()), said(ValueError("one\n  two"))) == ("KeyError", "one two")
