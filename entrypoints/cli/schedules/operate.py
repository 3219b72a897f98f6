"""`fencepost schedules pause`, `resume`, `trigger` and `delete`."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ....domain.commands import Origin
from ....domain.errors import InvalidInput, ScheduleNotFound
from ....domain.schedule import Overlap, Schedule
from ....domain.submission import check_origin
from ....domain.values import check_name
from ....domain.vocabulary import Verdict
from ...records import firing_record
from ..assent import ask_to_delete
from ..exits import NOT_FOUND, OK
from ..flags import PLAIN, Flags, Reason
from ..output import emit_many, emit_one
from ..session import origin, session
from ..terminal import say
from .definition import OverlapWord
from .views import tell_if_over

if TYPE_CHECKING:
    from ....application.scheduling import Scheduling
    from ...container import Container

Act = Callable[[str, Origin], Awaitable[Verdict]]


async def pause(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> int:
    """Stop firing; what was due and is not decided yet is skipped.

    Each name is answered by itself: those that are there are paused, and one that is not makes exit code 3.
    """
    return await _each(names, lambda container: container.scheduling().pause, reason, flags)


async def resume(*names: str, reason: Reason = None, flags: Flags = PLAIN) -> int:
    """Fire again, from now on.

    Each name is answered by itself: those that are there fire again, and one that is not makes exit code 3.
    """

    def act(container: "Container") -> Act:
        return partial(_resumed, container.scheduling())

    return await _each(names, act, reason, flags)


async def _resumed(scheduling: "Scheduling", name: str, trail: Origin) -> Verdict:
    verdict = await scheduling.resume(name, trail)
    tell_if_over(await scheduling.find(name))
    return verdict


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
        triggered = await container.scheduling().trigger(name, trail, overlap=Overlap(overlap))
    emit_one(flags.output, {"name": name, **firing_record(triggered.firing)})


async def delete(
    *names: str,
    version: Annotated[
        int | None, Parameter(help="Only if it, a single one, still has this version.")
    ] = None,
    yes: Annotated[bool, Parameter(help="Do not ask.", negative=())] = False,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> int:
    """Remove schedules; their ledgers stay, and their jobs go on.

    Each name is answered by itself: those that are there are deleted, and one that is not makes exit code 3.
    """
    trail = _checked(names, reason)
    if version is not None and len(names) > 1:
        raise InvalidInput("version", "must not be given for several schedules: it is that of one")
    async with session(flags) as container:
        scheduling = container.scheduling()
        there = [found for name in names if (found := await _found(name, container)) is not None]
        if there and not yes:
            ask_to_delete([one.name for one in there])

        async def act(name: str, trail: Origin) -> Verdict:
            await scheduling.delete(name, trail, version=version)
            return Verdict.ACCEPTED

        code = _told({name: await _answer(name, act, trail) for name in names}, flags)
    for one in there:
        if one.declared is not None:
            say(
                f"{one.name}: {one.declared.app} creates it again when it starts, as its code says; a pause would last"
            )
    return code


async def _found(name: str, container: "Container") -> Schedule | None:
    try:
        return await container.scheduling().find(name)
    except ScheduleNotFound:
        return None


async def _each(
    names: tuple[str, ...], act: Callable[["Container"], Act], reason: str | None, flags: Flags
) -> int:
    """Do the same to each schedule; the exit code tells of names that there are not."""
    trail = _checked(names, reason)
    async with session(flags) as container:
        answers = {name: await _answer(name, act(container), trail) for name in names}
    return _told(answers, flags)


def _checked(names: tuple[str, ...], reason: str | None) -> Origin:
    """Return who acts, once; raises InvalidInput for what is no name, before anything is done."""
    trail = origin(reason)
    check_origin(trail)
    if not names:
        raise InvalidInput("NAME", "must be given")
    for name in names:
        check_name("name", name)
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InvalidInput("name", f"must not be given twice: {min(repeated)}")
    return trail


def _told(answers: Mapping[str, Verdict], flags: Flags) -> int:
    """Print what became of each name; the exit code tells of those that there are not."""
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
