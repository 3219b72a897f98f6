"""`fencepost worker`."""

from typing import Annotated

from cyclopts import Parameter

from ..flags import PLAIN, Flags
from .parameters import Queues


def worker(
    app: Annotated[str, Parameter(help="MODULE:APP, such as myapp.jobs:app; from here or installed.")],
    /,
    *,
    queues: Queues = None,
    drain_grace: Annotated[str | None, Parameter(help="Time to finish on a stop [30s].")] = None,
    poll: Annotated[str | None, Parameter(help="Fallback poll [1s].")] = None,
    heartbeat: Annotated[
        str | None, Parameter(help="Period of heartbeats; else a third of the shortest lease held.")
    ] = None,
    build: Annotated[str | None, Parameter(help="The deployed version; kept in events.")] = None,
    flags: Flags = PLAIN,
) -> int:
    """Run the jobs of an app.

    SIGTERM or SIGINT: claim no more, let handlers finish within the drain grace, hand back the rest, exit with 0.
    A second one: abort now, exit with 1.
    """
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...loading import load_app  # noqa: PLC0415
    from ...location import located  # noqa: PLC0415
    from ...worker import run_worker  # noqa: PLC0415
    from ...worker_container import assemble_worker  # noqa: PLC0415

    logs.configure()
    chosen = {
        "queues": queues,
        "drain_grace": drain_grace,
        "poll": poll,
        "heartbeat": heartbeat,
        "build": build,
    }
    program = load_app(app)
    settings, dsn = located(program.overridden(flags.settings | chosen))
    return run_worker(assemble_worker(settings, dsn, program.handlers))
