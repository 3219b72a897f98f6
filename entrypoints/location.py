"""Finding the database: named in the settings, else the embedded server that `fencepost up` runs here."""

from collections.abc import Mapping
from pathlib import Path

from ..domain.errors import InvalidInput
from .settings import Settings, database_url, load


class NoDatabase(InvalidInput):
    """Nobody has said where the database is, and none runs here."""


def located(flags: Mapping[str, object]) -> tuple[Settings, str]:
    """Return the settings and the database's address.

    Raises InvalidInput for a bad setting and for an address that cannot be one, NoDatabase when no database is named
    and no embedded one runs.
    """
    settings = load(flags)
    dsn = database_url(settings)
    if dsn is None:
        return settings, _running_here(settings)
    _check(dsn)
    return settings, dsn


def _running_here(settings: Settings) -> str:
    from ..adapters.embedded.files import SideFiles  # noqa: PLC0415 - seldom needed
    from ..adapters.embedded.probe import NotReady, probe  # noqa: PLC0415
    from ..adapters.embedded.state import load as saved  # noqa: PLC0415

    state = saved(SideFiles(Path(settings.data_dir).resolve()).state)
    try:
        if state is not None:
            return probe(state, adopted=True).dsn
    except NotReady:
        pass
    raise NoDatabase(
        "database_url", "names no database: set FENCEPOST_DATABASE_URL, or start one here with `fencepost up`"
    )


def _check(dsn: str) -> None:
    from psycopg import ProgrammingError  # noqa: PLC0415 - heavy, and --help passes by here
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    rule = "must be a PostgreSQL address such as postgresql://host/name"
    try:
        named = conninfo_to_dict(dsn)
    except ProgrammingError as error:
        raise InvalidInput("database_url", rule) from error
    for port in str(named.get("port") or "").split(","):
        if port and not (port.isdecimal() and 0 < int(port) < 65_536):
            raise InvalidInput("database_url", "must name a port from 1 to 65535")
