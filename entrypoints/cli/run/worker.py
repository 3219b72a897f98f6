"""`fencepost worker`."""

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from ..flags import PLAIN, Flags
from .parameters import NO_SYNC, AllowShell, NoSync, Queues


def worker(  # noqa: PLR0913 - an argument for each flag
    app: Annotated[
        str | None,
        Parameter(
            help="MODULE:APP, such as myapp.jobs:app; from here or installed. May be left out with --allow-shell."
        ),
    ] = None,
    /,
    *,
    allow_shell: AllowShell = False,
    processes: Annotated[
        str | None,
        Parameter(help="Worker processes under one supervisor [1]; each has the slots of --queues."),
    ] = None,
    queues: Queues = None,
    drain_grace: Annotated[str | None, Parameter(help="Time to finish on a stop [30s].")] = None,
    poll: Annotated[str | None, Parameter(help="Fallback poll [1s].")] = None,
    heartbeat: Annotated[
        str | None, Parameter(help="Period of heartbeats; else a third of the shortest lease held.")
    ] = None,
    build: Annotated[str | None, Parameter(help="The deployed version; kept in events.")] = None,
    no_sync: NoSync = False,
    flags: Flags = PLAIN,
) -> int:
    """Run the jobs of an app; before the first one, bring the schedules that it declares to the database.

    SIGTERM or SIGINT: claim no more, let handlers finish within the drain grace, hand back the rest, exit with 0.
    A second one: abort now, exit with 1. With --processes, both go to the supervisor, which tells all of them.
    """
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...declared import Sync  # noqa: PLC0415
    from ...library.app import Fencepost  # noqa: PLC0415
    from ...loading import load_app  # noqa: PLC0415
    from ...location import located  # noqa: PLC0415
    from ...shell import allowed  # noqa: PLC0415
    from ...supervisor import run_workers  # noqa: PLC0415
    from ...worker import run_worker  # noqa: PLC0415
    from ...worker_container import assemble_worker  # noqa: PLC0415

    logs.configure()
    chosen = {
        "allow_shell": allow_shell or None,
        "processes": processes,
        "queues": queues,
        "drain_grace": drain_grace,
        "poll": poll,
        "heartbeat": heartbeat,
        "build": build,
    }
    program = Fencepost() if app is None else load_app(app)
    given = flags.settings | chosen
    settings, dsn = located(program.overridden(given))
    container = assemble_worker(settings, dsn, allowed(program.handlers, settings))
    if settings.processes > 1:
        return run_workers(container, [*_command(app, given), *(NO_SYNC if no_sync else ())])
    return run_worker(container, None if no_sync or app is None else Sync(app, program.schedules))


def _command(app: str | None, given: Mapping[str, object]) -> list[str]:
    """Return what a child is started with: the same flags, so that they beat the same settings."""
    told = {name: value for name, value in given.items() if value is not None and name != "processes"}
    flags = {f"--{name.replace('_', '-')}": value for name, value in told.items()}
    texts = (flag if value is True else f"{flag}={value}" for flag, value in flags.items())
    return ["worker", *([] if app is None else [app]), *texts]
