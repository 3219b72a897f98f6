"""`fencepost api`."""

from typing import Annotated

from cyclopts import Parameter

from ..flags import PLAIN, Flags


def api(
    *,
    host: Annotated[str | None, Parameter(help="Address to listen on [127.0.0.1].")] = None,
    port: Annotated[str | None, Parameter(help="Port to listen on [8470]; 0 takes a free one.")] = None,
    flags: Flags = PLAIN,
) -> int:
    """Serve the HTTP API. SIGTERM or SIGINT ends it with exit code 0."""
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...api.server import run_api  # noqa: PLC0415
    from ...container import assemble  # noqa: PLC0415
    from ...location import located  # noqa: PLC0415

    logs.configure()
    return run_api(assemble(*located(flags.settings | {"api_host": host, "api_port": port})))
