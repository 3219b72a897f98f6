"""`fencepost scheduler`."""

from typing import Annotated

from cyclopts import Parameter

from ..flags import PLAIN, Flags


def scheduler(
    *,
    reap_every: Annotated[str | None, Parameter(help="Period of the reaper [2s].")] = None,
    flags: Flags = PLAIN,
) -> int:
    """End expired leases; run as many as you like. SIGTERM or SIGINT ends it with exit code 0."""
    from ... import logs  # noqa: PLC0415 - --help needs none of it
    from ...container import assemble  # noqa: PLC0415
    from ...location import located  # noqa: PLC0415
    from ...scheduler import run_scheduler  # noqa: PLC0415

    logs.configure()
    return run_scheduler(assemble(*located(flags.settings | {"reap_every": reap_every})))
