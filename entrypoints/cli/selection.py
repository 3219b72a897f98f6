"""Choosing jobs by what they are."""

from typing import TYPE_CHECKING, Annotated

from attrs import evolve, frozen
from cyclopts import Group, Parameter

from ...application.operating import changeable
from ...application.ports.job_reader import JobFilter
from ...domain.commands import Operation
from ...domain.errors import InvalidInput
from ...domain.vocabulary import State
from .inputs import moment, name

if TYPE_CHECKING:
    from ...application.scheduling import Scheduling

CHOOSING = Group("Choosing jobs", sort_key=5)


@Parameter(name="*", group=CHOOSING)
@frozen(kw_only=True)
class Selection:
    """All given conditions must hold."""

    state: Annotated[
        tuple[State, ...] | None,
        Parameter(
            help="May be given more than once; without it cancel, requeue and revoke choose jobs that they can change.",
            negative=(),
        ),
    ] = None
    queue: Annotated[str | None, Parameter(help="The queue's name.")] = None
    type: Annotated[str | None, Parameter(help="The type's name.")] = None
    schedule: Annotated[str | None, Parameter(help="The name of the schedule whose jobs they are.")] = None
    submitted_from: Annotated[str | None, Parameter(help="Submitted at this moment or later.")] = None
    submitted_before: Annotated[str | None, Parameter(help="Submitted before this moment.")] = None

    def unless(self, job_ids: tuple[int, ...], operation: Operation) -> JobFilter | None:
        """Return the conditions, None when jobs are named; raises InvalidInput for both and for neither.

        Where no state is among them, it is one in which the operation can change a job.
        """
        if bool(job_ids) is (self != EVERYTHING):
            raise InvalidInput("job_id", "must be given, or conditions such as --queue, but not both")
        if job_ids:
            return None
        where = self.filter()
        return where if self.state else evolve(where, states=changeable(operation))

    def filter(self, *, dismissed: bool | None = None) -> JobFilter:
        """Return the conditions; raises InvalidInput."""
        return JobFilter(
            states=frozenset(self.state) if self.state else None,
            queue=name("queue", self.queue),
            type=name("type", self.type),
            schedule=name("schedule", self.schedule),
            dismissed=dismissed,
            submitted_from=moment("submitted_from", self.submitted_from),
            submitted_before=moment("submitted_before", self.submitted_before),
        )


EVERYTHING = Selection()


async def found_nothing(where: JobFilter, scheduling: "Scheduling") -> None:
    """Return when no job needs to match; raises ScheduleNotFound where the schedule is one that nobody knows."""
    if where.schedule is not None:
        await scheduling.check_known(where.schedule)
