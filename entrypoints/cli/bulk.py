"""One operation on several jobs: named ones, or all that match."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from attrs import frozen
from cyclopts import Parameter

from ...application.operating import check_operation, lacks_choice, not_allowed
from ...domain.errors import InvalidInput
from ...domain.vocabulary import State, Verdict
from .assent import ask
from .exits import CONFLICT, NOT_FOUND, OK
from .flags import Flags
from .output import Record, chosen, emit_many, emit_one
from .selection import found_nothing
from .session import session
from .terminal import say

if TYPE_CHECKING:
    from ...application.ports.job_reader import JobFilter, JobReader
    from ...domain.commands import Operation
    from ..container import Container

BATCH = 500
_EXPLAINED = {
    Verdict.GONE: "there is no such job",
    Verdict.BUSY: "it is locked by somebody else; try again",
}

UNCHOSEN = "it has succeeded: choose --fresh-effect-key (its effect may happen again) or --keep-effect-key"


@Parameter(name="*")
@frozen(kw_only=True)
class Assent:
    """Whether to go through with a bulk operation."""

    dry_run: Annotated[bool, Parameter(help="Only tell how many jobs match.", negative=())] = False
    yes: Annotated[bool, Parameter(help="Do not ask.", negative=())] = False

    def given(self, question: str) -> bool:
        """Return whether to go on, which a dry run does not; where there is no --yes, raises as ``ask`` does."""
        if not (self.dry_run or self.yes):
            ask(question, "must be given for a bulk operation without a terminal (or --dry-run)")
        return not self.dry_run


ASKING = Assent()
"""No flag given."""


async def operate(
    job_ids: Sequence[int], where: "JobFilter | None", operation: "Operation", flags: Flags, assent: Assent
) -> int:
    """Apply an operation to all jobs that match, or to the named ones where there is no filter."""
    if where is None:
        return await operate_on(job_ids, operation, flags, assent)
    return await operate_where(where, operation, flags, assent)


async def operate_on(
    job_ids: Sequence[int], operation: "Operation", flags: Flags, assent: Assent = ASKING
) -> int:
    """Apply an operation to named jobs; the exit code tells the worst answer. Nobody is asked."""
    check_operation(operation)
    if assent.dry_run:
        say(f"{_jobs(len(job_ids))} named")
        emit_counted(flags, {"named": len(job_ids)})
        return OK
    repeated = {job_id for job_id in job_ids if job_ids.count(job_id) > 1}
    if repeated:
        raise InvalidInput("job_id", f"must not be given twice: {min(repeated)}")
    async with session(flags) as container:
        return await _applied(container, job_ids, operation, flags)


async def operate_where(where: "JobFilter", operation: "Operation", flags: Flags, assent: Assent) -> int:
    """Apply an operation to all jobs that match when this begins, after telling how many they are."""
    check_operation(operation)
    async with session(flags) as container:
        job_ids = await matching(container.job_reader(), where)
        if not job_ids:
            await found_nothing(where, container.scheduling())
        say(f"{_jobs(len(job_ids))} {'matches' if len(job_ids) == 1 else 'match'}")
        if assent.dry_run:
            emit_counted(flags, {"matched": len(job_ids)})
        if not job_ids or not assent.given(f"{operation.name.value} {_jobs(len(job_ids))}?"):
            return OK
        worst = OK
        for start in range(0, len(job_ids), BATCH):
            code = await _applied(container, job_ids[start : start + BATCH], operation, flags)
            worst = max(worst, code)
        return worst


def emit_counted(flags: Flags, record: Record) -> None:
    """Print what a dry run has counted; a table would say to people what they are told beside the data."""
    if chosen(flags.output) != "table":
        emit_one(flags.output, record)


async def matching(reader: "JobReader", where: "JobFilter") -> list[int]:
    """Return the ids of all jobs that match, oldest first."""
    found: list[int] = []
    below = None
    while page := await reader.page(where, below=below, limit=BATCH):
        found += [job.job_id for job in page]
        below = found[-1]
    return found[::-1]


async def _applied(
    container: "Container", job_ids: Sequence[int], operation: "Operation", flags: Flags
) -> int:
    verdicts = await container.operating().many(job_ids, operation)
    answers = list(zip(job_ids, verdicts, strict=True))
    records = ({"job_id": job_id, "verdict": verdict.value} for job_id, verdict in answers)
    emit_many(flags.output, records, ("job_id", "verdict"))
    for job_id, verdict in answers:
        why = _EXPLAINED.get(verdict)
        if verdict is Verdict.REFUSED:
            why = _refused(operation, await container.operating().state(job_id))
        if why is not None:
            say(f"error: job {job_id}: {operation.name.value}: {why}")
    return _worst(verdicts)


def _refused(operation: "Operation", state: State | None) -> str:
    return UNCHOSEN if lacks_choice(operation, state) else not_allowed(operation, state)


def _jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number} jobs"


def _worst(verdicts: Sequence[Verdict]) -> int:
    if Verdict.REFUSED in verdicts or Verdict.BUSY in verdicts:
        return CONFLICT
    return NOT_FOUND if Verdict.GONE in verdicts else OK
