"""Exceptions as stored text: bounded, storable, and never the cause of another failure."""

import traceback
from collections.abc import Iterator

from ...domain.commands import JobError
from ...domain.limits import ERROR_BYTES
from ...domain.values import cleaned

TYPE_BYTES = 200
MESSAGE_BYTES = ERROR_BYTES // 4
TRACEBACK_BYTES = ERROR_BYTES - MESSAGE_BYTES - TYPE_BYTES
FRAMES = 12
CHAIN = 4


def describe(error: BaseException) -> JobError:
    """Return what is kept of an exception, however odd it is."""
    return job_error(type(error).__qualname__, _message(error), _traceback(error))


def job_error(kind: str, message: str, trace: str | None = None) -> JobError:
    """Return an error whose texts are cleaned and cut."""
    return JobError(
        cleaned(kind, TYPE_BYTES),
        cleaned(message, MESSAGE_BYTES),
        None if trace is None else cleaned(trace, TRACEBACK_BYTES),
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:  # noqa: BLE001  the failing path must always be able to write
        return f"(no message: its __str__ raised {type(second).__qualname__})"


def _traceback(error: BaseException) -> str | None:
    try:
        return "\n".join(_chain(error)) or None
    except BaseException:  # noqa: BLE001  the failing path must always be able to write
        return None


def _chain(error: BaseException) -> Iterator[str]:
    """Yield the innermost frames of the exception, then those of what caused it and of a group's members."""
    waiting: list[tuple[str, BaseException]] = [("", error)]
    for _ in range(CHAIN):
        if not waiting:
            return
        relation, current = waiting.pop(0)
        title = f"{relation}{type(current).__qualname__}: {_message(current)[:300]}\n" if relation else ""
        yield title + "".join(traceback.format_tb(current.__traceback__, limit=-FRAMES))
        if isinstance(current, BaseExceptionGroup):
            waiting += [("with ", member) for member in current.exceptions[:CHAIN]]
        cause = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        if cause is not None:
            waiting.append(("caused by ", cause))
