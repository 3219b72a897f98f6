"""`fencepost schedules add` and `edit`."""

from typing import Annotated

from cyclopts import Parameter

from ....domain.schedule import Missed, Overlap, Policies
from ....domain.scheduling import check_definition
from ....domain.values import check_name
from ..flags import PLAIN, Flags, Reason
from ..output import emit_one
from ..session import origin, session
from ..template import UNTOLD, Template
from ..terminal import say
from .definition import ANYTIME, USUAL, Rules, When, amendment, defined, flags_named
from .views import for_people, tell_if_over, told


async def add(
    name: str,
    /,
    *,
    type: Annotated[str, Parameter(help="The type of its jobs: what a handler is registered under.")],
    when: When = ANYTIME,
    rules: Rules = USUAL,
    template: Template = UNTOLD,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> None:
    """Create a schedule; the same again changes nothing, another one of that name is refused."""
    check_name("name", name)
    with flags_named():
        wanted = check_definition(defined(type, when, rules, template))
        async with session(flags) as container:
            created = await container.scheduling().create(name, wanted, origin(reason))
    record = told(created.schedule)
    emit_one(flags.output, record, for_people(record))
    tell_if_over(created.schedule)


async def edit(  # noqa: PLR0913 - an argument for each group of flags
    name: str,
    /,
    *,
    type: Annotated[str | None, Parameter(help="The type of its jobs.")] = None,
    when: When = ANYTIME,
    rules: Rules = USUAL,
    template: Template = UNTOLD,
    version: Annotated[int | None, Parameter(help="Only if it still has this version.")] = None,
    reason: Reason = None,
    flags: Flags = PLAIN,
) -> None:
    """Change what is given of a schedule, from the next decision on; all else stays as it is."""
    check_name("name", name)
    given = amendment(type, when, rules, template)
    with flags_named():
        async with session(flags) as container:
            schedule = await container.scheduling().amend(name, given.of, origin(reason), version=version)
    record = told(schedule)
    emit_one(flags.output, record, for_people(record))
    tell_if_over(schedule)
    policies = schedule.definition.policies
    if "missed" in given.policies and "overlap" not in given.policies and _stops_itself(policies):
        say("overlap is still skip: while a job is unfinished, the missed ones are skipped (see --overlap)")


def _stops_itself(policies: Policies) -> bool:
    return policies.missed is Missed.ALL and policies.overlap is Overlap.SKIP
