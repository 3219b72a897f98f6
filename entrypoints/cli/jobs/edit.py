"""`fencepost jobs edit`."""

from typing import Annotated

from cyclopts import Parameter

from ....domain import commands as c
from ....domain.errors import InvalidInput
from ..bulk import operate_on
from ..flags import PLAIN, Flags, NewPayload
from ..inputs import json_text, moment
from ..session import origin


async def edit(
    *job_ids: int,
    run_at: Annotated[str | None, Parameter(help="Due at this moment, such as 2026-01-31T12:00:00Z.")] = None,
    priority: Annotated[int | None, Parameter(help="0 to 9, higher first.")] = None,
    queue: Annotated[str | None, Parameter(help="The queue to move to.")] = None,
    payload: NewPayload = None,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Change pending jobs."""
    if not job_ids:
        raise InvalidInput("job_id", "must be given")
    operation = c.Edit(
        origin=origin(reason),
        run_at=moment("run_at", run_at),
        priority=priority,
        queue=queue,
        payload=None if payload is None else json_text("payload", payload),
    )
    return await operate_on(job_ids, operation, flags)
