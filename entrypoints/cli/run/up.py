"""`fencepost up`."""

from typing import Annotated

from cyclopts import Parameter

from ....domain.errors import InvalidInput
from ....domain.values import check_integer
from ..flags import PLAIN, Flags
from .parameters import AllowShell, NoSync, Queues


def up(  # noqa: PLR0913 - an argument for each flag
    *,
    app: Annotated[
        str | None,
        Parameter(help="MODULE:APP whose jobs to run; without it and without --allow-shell no worker runs."),
    ] = None,
    allow_shell: AllowShell = False,
    workers: Annotated[int, Parameter(help="Worker processes.")] = 1,
    queues: Queues = None,
    port: Annotated[str | None, Parameter(help="Port of the HTTP API [8470]; 0 takes a free one.")] = None,
    data_dir: Annotated[str | None, Parameter(help="Folder of the embedded PostgreSQL [.fencepost].")] = None,
    no_sync: NoSync = False,
    flags: Flags = PLAIN,
) -> int:
    """Run everything on an embedded PostgreSQL: API, scheduler, workers.

    The data stay in --data-dir. SIGTERM or SIGINT ends it all with exit code 0, PostgreSQL included.
    """
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...loading import load_app  # noqa: PLC0415
    from ...redaction import redacted  # noqa: PLC0415
    from ...settings import load  # noqa: PLC0415
    from ...up import Plan, run_up  # noqa: PLC0415
    from ..output import emit_one  # noqa: PLC0415

    check_integer("workers", workers, 1, 64)
    if flags.database_url is not None:
        raise InvalidInput("database_url", "must not be given: `up` runs its own database")
    logs.configure()
    chosen = {"allow_shell": allow_shell or None, "queues": queues, "api_port": port, "data_dir": data_dir}
    settings = load(flags.settings | chosen)

    if app is not None:
        load_app(app)  # what the workers could not import is found out before anything starts

    def greet(api: str, dsn: str) -> None:
        emit_one(flags.output, {"api": api, "database": redacted(dsn)})

    return run_up(Plan(settings=settings, app=app, workers=workers, sync=not no_sync, ready=greet))
