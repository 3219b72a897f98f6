"""Exceptions as stored text."""

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.application.worker.errors import describe, job_error
from fencepost.domain.limits import ERROR_BYTES
from fencepost.domain.values import check_text

E = TypeVar("E", bound=BaseException)


def throw(error: BaseException) -> None:
    """Raise an exception."""
    raise error


def throw_over(error: Exception, hidden: Exception) -> None:
    """Raise an exception that hides another one."""
    try:
        throw(hidden)
    except Exception:  # noqa: BLE001  any kind is tested
        raise error from None


def raised(error: E) -> E:
    """Give an exception back after it was raised, with its traceback."""
    with pytest.raises(type(error)):
        throw(error)
    return error


@given(st.text() | st.text(st.characters(categories=["Cs", "Cc"])))
def test_any_message_can_be_stored(message: str) -> None:
    """B135: NUL characters and lone surrogates are replaced."""
    error = describe(raised(ValueError(message)))
    for text in (error.type, error.message, error.traceback or ""):
        check_text("text", text, ERROR_BYTES)


def test_the_whole_is_bounded() -> None:
    """A name, a message and a traceback that are all too long still fit."""
    kind = type("E" * 100_000, (Exception,), {})
    error = describe(raised(kind("é" * 100_000)))
    assert error.traceback is not None
    assert sum(len(text.encode()) for text in (error.type, error.message, error.traceback)) <= ERROR_BYTES


def test_the_traceback_names_the_place() -> None:
    """The innermost frame is in it."""
    assert "in throw" in (describe(raised(ValueError())).traceback or "")


def test_an_exception_that_was_never_raised_has_no_traceback() -> None:
    """There is nothing to show."""
    assert describe(ValueError("x")).traceback is None


def test_members_of_a_group_are_shown() -> None:
    """The group's own text does not tell what went wrong."""
    group = raised(ExceptionGroup("several", [raised(ValueError("one")), raised(KeyError("two"))]))
    trace = describe(group).traceback or ""
    assert "ValueError: one" in trace
    assert "KeyError: 'two'" in trace


def test_a_suppressed_context_stays_out() -> None:
    """``raise … from None`` is respected."""
    error = ValueError("shown")
    with pytest.raises(ValueError, match="shown"):
        throw_over(error, KeyError("hidden"))
    assert error.__context__ is not None
    assert "KeyError: " not in (describe(error).traceback or "")


def test_an_error_of_our_own_has_no_traceback() -> None:
    """A timeout is not an exception of the handler's."""
    assert job_error("timeout", "too slow").traceback is None
