"""Exit codes, and errors as one line for people."""

import sys

from ...domain.errors import (
    BackfillNotFound,
    FencepostError,
    InvalidInput,
    JobBusy,
    JobNotFound,
    KeyConflict,
    KeyInProgress,
    ScheduleExists,
    ScheduleNotFound,
    ScheduleUnreadable,
    Unavailable,
    VersionConflict,
    WrongState,
)
from ..schema import CURE, missing

OK = 0
FAILED = 1
USAGE = 2
NOT_FOUND = 3
CONFLICT = 4
UNREACHABLE = 5
INTERRUPTED = 130

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (InvalidInput, USAGE),
    (JobNotFound, NOT_FOUND),
    (ScheduleNotFound, NOT_FOUND),
    (BackfillNotFound, NOT_FOUND),
    (WrongState, CONFLICT),
    (JobBusy, CONFLICT),
    (KeyConflict, CONFLICT),
    (KeyInProgress, CONFLICT),
    (ScheduleExists, CONFLICT),
    (ScheduleUnreadable, CONFLICT),
    (VersionConflict, CONFLICT),
    (Unavailable, UNREACHABLE),
)


class Failed(FencepostError):
    """The operation failed; the message says why."""


class ChildFailed(FencepostError):
    """A child process does not stay alive."""

    def __init__(self, message: str, code: int) -> None:
        """Keep the child's exit code; a child that a signal ended, or that left too early with success, has failed."""
        super().__init__(message)
        self.code = code if code > OK else FAILED


def exit_code(error: Exception) -> int:
    """Return the exit code of an expected error; an unexpected one is a bug, and raised again."""
    if isinstance(error, ChildFailed):
        return error.code
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    if not isinstance(error, FencepostError) and not _expected_elsewhere(error):
        raise error
    return FAILED


def sentence(error: Exception) -> str:
    """Return an error as one line."""
    if missing(error):
        return f"{CURE} (see --schema)"
    if isinstance(error, ScheduleExists):
        return f"{error}: edit it"
    return " ".join(str(error).split()) or type(error).__name__


def _expected_elsewhere(error: Exception) -> bool:
    """Tell errors of the database driver and of the embedded server, without loading either."""
    driver = sys.modules.get("psycopg")
    if driver is not None and isinstance(error, driver.Error):
        return True
    embedded = sys.modules.get("fencepost.adapters.embedded.errors")
    return embedded is not None and isinstance(error, embedded.EmbeddedError)
