"""`fencepost jobs wait`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ....domain.durations import duration
from ....domain.errors import JobNotFound
from ....domain.vocabulary import State
from ..exits import FAILED, OK, Failed
from ..flags import PLAIN, Flags
from ..output import emit_one
from ..session import session
from ..views import for_people, job_record, last_error

if TYPE_CHECKING:
    from ....application.ports.job_reader import JobReader
    from ....domain.job import Job

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


async def wait(
    job_id: int,
    /,
    *,
    timeout: Annotated[str | None, Parameter(help="Give up after this long, such as 5m.")] = None,
    flags: Flags = PLAIN,
) -> int:
    """Wait until a job is finished and print it; the exit code is 0 exactly when it succeeded."""
    longest = None if timeout is None else duration("timeout", timeout).total_seconds()
    async with session(flags) as container:
        try:
            async with asyncio.timeout(longest):
                job = await _finished(container.job_reader(), job_id)
            events = await container.event_log().history(job_id)
        except TimeoutError as error:
            raise Failed(f"job {job_id} is not finished after {timeout}") from error
    record = job_record(job) | {"error": last_error(events)}
    emit_one(flags.output, record, for_people(record))
    return OK if job.state is State.SUCCEEDED else FAILED


async def _finished(reader: "JobReader", job_id: int) -> "Job":
    pause = FIRST_PAUSE
    while True:
        job = await reader.get(job_id)
        if job is None:
            raise JobNotFound(f"there is no job {job_id}")
        if job.terminal:
            return job
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
