"""`fencepost dead`: the worklist of dead letters."""

from collections.abc import Sequence
from typing import Annotated

from attrs import frozen
from cyclopts import App, Parameter

from ...application.ports.job_reader import JobFilter
from ...domain import commands as c
from ...domain.errors import InvalidInput, JobNotFound, WrongState
from ...domain.event import JobEvent
from ...domain.values import check_integer
from ...domain.vocabulary import State
from .bulk import ASKING, Assent, operate
from .flags import PLAIN, Flags
from .inputs import name
from .output import emit_many, emit_one
from .requeueing import UNCHANGED, Changes
from .selection import found_nothing
from .session import origin, session
from .terminal import say
from .views import ERROR, died_at, for_people, job_record, last_error

COLUMNS = ("job_id", "type", "queue", "attempt", "failures", "died_at")
LIMIT_MOST = 1_000

dead = App(name="dead", help="Work through the dead letters.")
Queue = Annotated[str | None, Parameter(help="Only this queue.")]
Type = Annotated[str | None, Parameter(help="Only this type.")]
Schedule = Annotated[str | None, Parameter(help="Only jobs of this schedule.")]


@Parameter(name="*")
@frozen(kw_only=True)
class Worklist:
    """The dead jobs that nobody has dismissed."""

    all: Annotated[bool, Parameter(help="All that are not dismissed.", negative=())] = False
    queue: Queue = None
    type: Type = None
    schedule: Schedule = None

    def unless(self, job_ids: tuple[int, ...]) -> JobFilter | None:
        """Return which jobs, None for the named ones; bulk must be asked for by --all or a condition."""
        if bool(job_ids) is (self != NOBODY):
            raise InvalidInput(
                "job_id", "must be given, or --all, --queue, --type or --schedule, but not both"
            )
        return None if job_ids else _dead(self.queue, self.type, self.schedule, dismissed=False)


NOBODY = Worklist()


def _dead(queue: str | None, type: str | None, schedule: str | None, *, dismissed: bool) -> JobFilter:
    return JobFilter(
        states=frozenset({State.DEAD}),
        queue=name("queue", queue),
        type=name("type", type),
        schedule=name("schedule", schedule),
        dismissed=dismissed,
    )


@dead.command(name="list")
async def list_dead(
    *,
    queue: Queue = None,
    type: Type = None,
    schedule: Schedule = None,
    dismissed: Annotated[bool, Parameter(help="The dismissed ones instead.", negative=())] = False,
    limit: Annotated[int, Parameter(help="At most this many.")] = 50,
    below: Annotated[int | None, Parameter(help="Only ids below this one: the next page.")] = None,
    flags: Flags = PLAIN,
) -> None:
    """List dead jobs with what killed them, newest first."""
    check_integer("limit", limit, 1, LIMIT_MOST)
    where = _dead(queue, type, schedule, dismissed=dismissed)
    async with session(flags) as container:
        page = await container.job_reader().page(where, below=below, limit=limit)
        if not page:
            await found_nothing(where, container.scheduling())
        log = container.event_log()
        records = [job_record(job) | _death(await log.history(job.job_id)) for job in page]
    emit_many(flags.output, records, COLUMNS, ERROR)
    if len(page) == limit:
        say(f"there may be more: --below {page[-1].job_id}")


@dead.command
async def show(job_id: int, /, *, flags: Flags = PLAIN) -> None:
    """Show a dead job with what killed it."""
    async with session(flags) as container:
        job = await container.job_reader().get(job_id)
        events = await container.event_log().history(job_id)
    if job is None:
        raise JobNotFound(f"there is no job {job_id}")
    if job.state is not State.DEAD:
        raise WrongState(f"job {job_id} is {job.state.value}, not dead")
    record = job_record(job) | _death(events)
    emit_one(flags.output, record, for_people(record))


@dead.command
async def requeue(
    *job_ids: int,
    chosen: Worklist = NOBODY,
    changes: Changes = UNCHANGED,
    assent: Assent = ASKING,
    reason: str | None = None,
    flags: Flags = PLAIN,
) -> int:
    """Put dead jobs back: by id, or all on the worklist."""
    return await operate(job_ids, chosen.unless(job_ids), changes.requeue(reason), flags, assent)


@dead.command
async def dismiss(
    *job_ids: int,
    chosen: Worklist = NOBODY,
    assent: Assent = ASKING,
    reason: Annotated[str | None, Parameter(help="Why nothing more will be done; kept.")] = None,
    flags: Flags = PLAIN,
) -> int:
    """Take dead jobs off the worklist: by id, or all on it."""
    return await operate(job_ids, chosen.unless(job_ids), c.Dismiss(origin=origin(reason)), flags, assent)


def _death(events: Sequence[JobEvent]) -> dict[str, object]:
    """Return when the job died and of what."""
    return {"died_at": died_at(events), "error": last_error(events)}
