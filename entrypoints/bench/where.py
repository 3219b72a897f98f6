"""The database to measure on: as for every command, else a temporary one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...adapters.embedded import temporary_postgres
from ...domain.errors import InvalidInput
from ..location import located
from ..settings import database_url, load
from .place import Tell


@contextmanager
def database(flags: Mapping[str, object], tell: Tell) -> Iterator[str]:
    """Yield an address; a temporary server ends with the block. Raises InvalidInput."""
    settings = load(flags)
    try:
        _, dsn = located(flags)
    except InvalidInput:
        if database_url(settings) is not None:
            raise
    else:
        yield dsn
        return
    tell(
        "no database is named and none runs here: measuring on a temporary PostgreSQL, with this machine's disk"
    )
    bindir = None if settings.pg_bindir is None else Path(settings.pg_bindir)
    with temporary_postgres(bindir) as running:
        yield running.dsn
