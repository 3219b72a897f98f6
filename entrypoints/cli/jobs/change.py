"""`fencepost jobs cancel`, `requeue` and `revoke`."""

from typing import Annotated

from cyclopts import Parameter

from ....domain import commands as c
from ..bulk import ASKING, Assent, operate
from ..flags import PLAIN, Flags
from ..requeueing import UNCHANGED, Changes
from ..selection import EVERYTHING, Selection
from ..session import origin


async def cancel(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    assent: Assent = ASKING,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Cancel pending jobs, ask running ones to stop: by id, or all that match."""
    operation = c.Cancel(origin=origin(reason))
    return await operate(job_ids, chosen.unless(job_ids, operation), operation, flags, assent)


async def requeue(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    changes: Changes = UNCHANGED,
    assent: Assent = ASKING,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Put finished jobs back: by id, or all that match."""
    operation = changes.requeue(reason)
    return await operate(job_ids, chosen.unless(job_ids, operation), operation, flags, assent)


async def revoke(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    cancel: Annotated[bool, Parameter(help="Cancel the jobs, too.", negative=())] = False,
    assent: Assent = ASKING,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """End leases at once, by force: by id, or all that match."""
    operation = c.Revoke(origin=origin(reason), cancel=cancel)
    return await operate(job_ids, chosen.unless(job_ids, operation), operation, flags, assent)
