"""`fencepost db`."""

from cyclopts import App

from .exits import FAILED, OK
from .flags import PLAIN, Flags
from .output import emit_one, emit_text
from .terminal import say

db = App(name="db", help="Bring the database's schema up to date.")


@db.command
def migrate(*, flags: Flags = PLAIN) -> None:
    """Apply what is pending, in one transaction; processes that race do it one after the other."""
    from ...adapters.postgres import migrations  # noqa: PLC0415 - loads SQLAlchemy, which --help must not
    from ..location import located  # noqa: PLC0415

    settings, dsn = located(flags.settings)
    pending = migrations.pending(dsn, settings.schema)
    migrations.migrate(dsn, settings.schema)
    done = f"applied {', '.join(pending)}" if pending else "nothing was pending"
    say(f"schema {settings.schema} is up to date: {done}")
    emit_one(flags.output, {"schema": settings.schema, "applied": pending})


@db.command
def status(*, flags: Flags = PLAIN) -> int:
    """Tell what is pending; the exit code is 0 when nothing is."""
    from ...adapters.postgres import migrations  # noqa: PLC0415 - as in migrate
    from ..location import located  # noqa: PLC0415

    settings, dsn = located(flags.settings)
    pending = migrations.pending(dsn, settings.schema)
    emit_one(flags.output, {"schema": settings.schema, "pending": pending})
    if pending:
        say("migrations are pending: run `fencepost db migrate`")
    return FAILED if pending else OK


@db.command
def sql(*, flags: Flags = PLAIN) -> None:
    """Print the whole schema as SQL, for an administrator to read and run; connects to nothing."""
    from ...adapters.postgres import migrations  # noqa: PLC0415 - as in migrate
    from ..settings import load  # noqa: PLC0415

    emit_text(migrations.sql(load(flags.settings).schema))
