"""`fencepost schedules sync`: bring the schedules that an app declares to the database."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from attrs import evolve
from cyclopts import Parameter

from ....application.declarations import How
from ....application.ports.event_log import LogFilter
from ....domain.declaring import Action, Declared, Difference
from ....domain.facts import instant
from ....domain.vocabulary import ControlEventName
from ...records import Record, difference_record
from ..assent import ask_to_delete
from ..exits import CONFLICT, FAILED, OK
from ..flags import PLAIN, Flags
from ..output import Note, emit_many
from ..session import origin, session_where
from ..tables import moment
from ..terminal import say
from .views import difference

if TYPE_CHECKING:
    from ....application.ports.event_log import EventLog

COLUMNS = ("name", "action")
PAGE = 1_000
OTHERS = frozenset({Action.DRIFTED, Action.CONFLICT})
"""Answers for which it matters who edited the schedule."""


async def sync(
    app: Annotated[str, Parameter(help="MODULE:APP, such as myapp.jobs:app; from here or installed.")],
    /,
    *,
    dry_run: Annotated[bool, Parameter(help="Show what would be done.", negative="")] = False,
    force: Annotated[
        bool, Parameter(help="Undo what others have edited: the code has its way.", negative="")
    ] = False,
    prune: Annotated[
        bool, Parameter(help="Delete what the app declared once and does not any more.", negative="")
    ] = False,
    yes: Annotated[bool, Parameter(help="Do not ask before --prune deletes.", negative="")] = False,
    flags: Flags = PLAIN,
) -> int:
    """Bring the schedules that an app declares to the database, as its workers do when they start.

    Only --prune deletes, and asks first; nothing is done when the answer is not yes. Exits with 4 when something was
    left alone that the code and others have changed, with 1 when something failed.
    """
    from ...declared import reason  # noqa: PLC0415 - --help needs none of it
    from ...loading import load_app  # noqa: PLC0415

    program = load_app(app)
    how = How(force=force, prune=prune, dry_run=dry_run)
    async with session_where(program.overridden(flags.settings)) as container:
        log = container.event_log()
        act = partial(container.syncing().sync, app, program.schedules, origin(reason(app)))
        if prune and not (dry_run or yes):
            await _assented(act(evolve(how, dry_run=True)))
        answers = [one async for one in act(how)]
        records = [await _record(one, log) for one in answers]
    emit_many(flags.output, records, COLUMNS, Note("differences", _differences))
    say(_sum(answers, dry_run=dry_run))
    actions = {one.action for one in answers}
    return FAILED if Action.FAILED in actions else CONFLICT if Action.CONFLICT in actions else OK


async def _assented(answers: AsyncIterator[Declared]) -> None:
    """Return when nothing would be deleted or somebody says yes to it; raises as ``ask`` does."""
    doomed = [one.name async for one in answers if one.action is Action.DELETED]
    if doomed:
        ask_to_delete(doomed)


async def _record(answer: Declared, log: "EventLog") -> Record:
    record = {
        "name": answer.name,
        "action": answer.action.value,
        "differences": [_difference(one) for one in answer.differences],
        "declared_by": answer.declared_by,
        "error": answer.error,
    }
    return record | (await _last_edit(answer.name, log) if answer.action in OTHERS else {})


def _difference(one: Difference) -> Record:
    record = difference_record(one)
    if one.field == "payload":
        return record | {"schedule": json.loads(one.schedule), "code": json.loads(one.code)}
    return record


async def _last_edit(name: str, log: "EventLog") -> Record:
    """Return who edited a schedule last, and when; nothing for one that nobody has edited since it was created."""
    where = LogFilter(subject=f"schedule:{name}", names=frozenset({ControlEventName.SCHEDULE_EDITED.value}))
    found = await log.page(where, limit=PAGE)
    while len(found) == PAGE and (more := await log.page(where, after=found[-1].position or 0, limit=PAGE)):
        found = more
    return {"edited_by": found[-1].actor, "edited_at": instant(found[-1].at)} if found else {}


def _differences(record: Mapping[str, Any]) -> str:
    """Return what a table says beside the action."""
    said = [*map(difference, record["differences"])]
    if record["action"] in OTHERS:
        said.append(f"({_whose(record)})")
    return "; ".join(said) or record["error"] or ""


def _whose(record: Mapping[str, Any]) -> str:
    if record["declared_by"] is None:
        return "not declared by code so far"
    if "edited_by" in record:
        edited = f"edited by {record['edited_by']} at {moment(record['edited_at'])}"
        return f"declared by {record['declared_by']}, {edited}"
    return f"declared by {record['declared_by']}"


def _sum(answers: Sequence[Declared], *, dry_run: bool) -> str:
    counts = Counter(one.action.value for one in answers)
    told = ", ".join(f"{count} {action}" for action, count in sorted(counts.items())) or "nothing is declared"
    return f"dry run, nothing was changed: {told}" if dry_run else told
