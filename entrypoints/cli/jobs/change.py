"""`fencepost jobs cancel`, `requeue` and `revoke`."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ....domain import commands as c
from ....domain.errors import InvalidInput
from ..bulk import Assent, operate_on, operate_where
from ..flags import PLAIN, Flags
from ..inputs import json_text
from ..selection import EVERYTHING, Selection
from ..session import origin

if TYPE_CHECKING:
    from ....domain.commands import Operation

DryRun = Annotated[bool, Parameter(help="Only tell how many jobs match.", negative=())]
Yes = Annotated[bool, Parameter(help="Do not ask.", negative=())]
Fresh = Annotated[
    bool | None,
    Parameter(
        name="--fresh-effect-key",
        negative="--keep-effect-key",
        help="Whether the effect may happen again; must be chosen for jobs that succeeded.",
    ),
]


async def cancel(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    dry_run: DryRun = False,
    yes: Yes = False,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Cancel pending jobs, ask running ones to stop: by id, or all that match."""
    operation = c.Cancel(origin=origin(reason))
    return await _operate(job_ids, chosen, operation, flags, Assent(dry_run, yes))


async def requeue(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    payload: Annotated[
        str | None, Parameter(help="A new payload: JSON, @FILE or -.", allow_leading_hyphen=True)
    ] = None,
    fresh_effect_key: Fresh = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Put finished jobs back: by id, or all that match."""
    operation = c.Requeue(
        origin=origin(reason),
        payload=None if payload is None else json_text("payload", payload),
        fresh_effect_key=fresh_effect_key,
    )
    return await _operate(job_ids, chosen, operation, flags, Assent(dry_run, yes))


async def revoke(
    *job_ids: int,
    chosen: Selection = EVERYTHING,
    cancel: Annotated[bool, Parameter(help="Cancel the jobs, too.", negative=())] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """End leases at once, by force: by id, or all that match."""
    operation = c.Revoke(origin=origin(reason), cancel=cancel)
    return await _operate(job_ids, chosen, operation, flags, Assent(dry_run, yes))


async def _operate(
    job_ids: tuple[int, ...], chosen: Selection, operation: "Operation", flags: Flags, assent: Assent
) -> int:
    if bool(job_ids) is not chosen.empty:
        raise InvalidInput("job_id", "must be given, or conditions such as --queue, but not both")
    if job_ids:
        return await operate_on(job_ids, operation, flags, assent)
    return await operate_where(chosen.filter(), operation, flags, assent)
