"""`fencepost config`."""

from datetime import timedelta
from typing import Any

from cyclopts import App

from .flags import PLAIN, Flags
from .output import emit_one

config = App(name="config", help="Show the settings in force.")


@config.command
def show(*, flags: Flags = PLAIN) -> None:
    """Show the settings in force, secrets left out."""
    from ..redaction import redacted  # noqa: PLC0415 - --help needs neither
    from ..settings import database_url, load, names  # noqa: PLC0415

    settings = load(flags.settings)
    record = {name: _value(getattr(settings, name)) for name in names()}
    dsn = database_url(settings)
    emit_one(flags.output, record | {"database_url": None if dsn is None else redacted(dsn)})


def _value(value: Any) -> Any:
    return f"{value.total_seconds():g}s" if isinstance(value, timedelta) else value
