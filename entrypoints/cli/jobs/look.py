"""`fencepost jobs list`, `show` and `history`."""

from typing import Annotated

from cyclopts import Parameter

from ....domain.errors import JobNotFound
from ....domain.event import ControlEvent, JobEvent
from ....domain.values import check_integer
from ..flags import PLAIN, Flags
from ..output import emit_many, emit_one
from ..selection import EVERYTHING, Selection, found_nothing
from ..session import session
from ..terminal import say
from ..views import NOTE, event_record, for_people, job_record, last_error

COLUMNS = ("job_id", "type", "queue", "state", "attempt", "failures", "run_at")
EVENT_COLUMNS = ("seq", "at", "name", "state", "attempt", "actor")
LIMIT_MOST = 10_000


async def list_jobs(
    *,
    chosen: Selection = EVERYTHING,
    dismissed: Annotated[bool | None, Parameter(help="Only dismissed ones, or none of them.")] = None,
    limit: Annotated[int, Parameter(help="At most this many.")] = 50,
    below: Annotated[int | None, Parameter(help="Only ids below this one: the next page.")] = None,
    flags: Flags = PLAIN,
) -> None:
    """List jobs, newest first."""
    check_integer("limit", limit, 1, LIMIT_MOST)
    where = chosen.filter(dismissed=dismissed)
    async with session(flags) as container:
        page = await container.job_reader().page(where, below=below, limit=limit)
        if not page:
            await found_nothing(where, container.scheduling())
    emit_many(flags.output, map(job_record, page), COLUMNS)
    if len(page) == limit:
        say(f"there may be more: --below {page[-1].job_id}")


async def show(job_id: int, /, *, flags: Flags = PLAIN) -> None:
    """Show a job as it is now."""
    async with session(flags) as container:
        job = await container.job_reader().get(job_id)
        events = await container.event_log().history(job_id)
    if job is None:
        raise JobNotFound(f"there is no job {job_id}")
    record = job_record(job) | {"error": last_error(events)}
    emit_one(flags.output, record, for_people(record))


async def history(job_id: int, /, *, flags: Flags = PLAIN) -> None:
    """Show how a job came to be: its events, and refused reports beside them."""
    async with session(flags) as container:
        events = await container.event_log().history(job_id)
        evidence = await container.event_log().evidence(job_id)
    if not events and not evidence:
        raise JobNotFound(f"there is no job {job_id}")
    log: list[JobEvent | ControlEvent] = [*events, *evidence]
    log.sort(key=lambda event: event.position or 0)
    emit_many(flags.output, map(event_record, log), EVENT_COLUMNS, NOTE)
