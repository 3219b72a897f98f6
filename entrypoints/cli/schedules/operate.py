"""`fencepost schedules pause`, `resume`, `trigger` and `delete`."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ....domain.commands import Origin
from ....domain.errors import InvalidInput, ScheduleNotFound
from ....domain.schedule import Overlap
from ....domain.submission import check_origin
from ....domain.values import check_name
from ....domain.vocabulary import Verdict
from ...records import firing_record
from ..assent import ask
from ..exits import NOT_FOUND, OK
from ..flags import PLAIN, Flags, Reason
from ..output import emit_many, emit_one
from ..session import origin, session
from ..terminal import say
from .definition import OverlapWord

if TYPE_CHECKING:
    from ...container import Container

Act = Callable[[str, Origin], Awaitable[Verdict]]


async def pause(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> int:
    """Stop firing; what was due and is not decided yet is skipped."""
    return await _each(names, lambda container: container.scheduling().pause, reason, flags)


async def resume(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> int:
    """Fire again, from now on."""
    return await _each(names, lambda container: container.scheduling().resume, reason, flags)


async def trigger(
    name: str,
    /,
    *,
    overlap: Annotated[OverlapWord, Parameter(help="What if a job is unfinished.")] = "allow",
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> None:
    """Fire now, beside the clock and also while paused; print the decision and the job."""
    trail = origin(reason)
    check_origin(trail)
    check_name("name", name)
    async with session(flags) as container:
        firing = await container.scheduling().trigger(name, trail, overlap=Overlap(overlap))
    emit_one(flags.output, {"name": name, **firing_record(firing)})


async def delete(
    name: str,
    /,
    *,
    version: Annotated[int | None, Parameter(help="Only if it still has this version.")] = None,
    yes: Annotated[bool, Parameter(help="Do not ask.", negative=())] = False,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> None:
    """Remove a schedule; its ledger stays, and its jobs go on."""
    trail = origin(reason)
    check_origin(trail)
    check_name("name", name)
    async with session(flags) as container:
        schedule = await container.scheduling().get(name)
        if not yes:
            ask(f"delete schedule {name}?", "must be given to delete without a terminal")
        await container.scheduling().delete(name, trail, version=version)
    emit_one(flags.output, {"name": name, "verdict": Verdict.ACCEPTED.value})
    if schedule.declared is not None:
        say(
            f"its code declares it: {schedule.declared.app} creates it again when it starts; a pause would last"
        )


async def _each(
    names: tuple[str, ...], act: Callable[["Container"], Act], reason: str | None, flags: Flags
) -> int:
    """Do the same to each schedule; the exit code tells of names that there are not."""
    trail = origin(reason)
    check_origin(trail)
    if not names:
        raise InvalidInput("NAME", "must be given")
    for name in names:
        check_name("name", name)
    async with session(flags) as container:
        answers = {name: await _answer(name, act(container), trail) for name in names}
    emit_many(
        flags.output,
        ({"name": name, "verdict": verdict.value} for name, verdict in answers.items()),
        ("name", "verdict"),
    )
    missing = [name for name, verdict in answers.items() if verdict is Verdict.GONE]
    for name in missing:
        say(f"error: there is no schedule {name}")
    return NOT_FOUND if missing else OK


async def _answer(name: str, act: Act, trail: Origin) -> Verdict:
    try:
        return await act(name, trail)
    except ScheduleNotFound:
        return Verdict.GONE
