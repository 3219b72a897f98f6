"""A database whose schema is not the one this version needs."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..domain.errors import FencepostError

MISSING = {"3F000", "42P01", "42883", "42703"}
"""SQLSTATEs: no such schema, table, function, column: the migrations have not run, or not all."""
CURE = "the database has no schema of this version: run `fencepost db migrate`"


class MigrationsPending(FencepostError):
    """The database's schema is older than this program, or not there at all."""


def missing(error: BaseException) -> bool:
    """Tell whether a driver's error, in whatever wrapping an ORM reports it, means that migrations are pending."""
    wrapped = (error, getattr(error, "orig", None), error.__cause__)
    return any(getattr(found, "sqlstate", None) in MISSING for found in wrapped)


@contextmanager
def explained() -> Iterator[None]:
    """Raise MigrationsPending in place of what a driver says about a table that is not there."""
    try:
        yield
    except FencepostError:
        raise
    except Exception as error:
        if not missing(error):
            raise
        said = str(error).partition("\n")[0]
        raise MigrationsPending(f"{CURE} ({said})") from error
