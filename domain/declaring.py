"""Schedules that code declares: what becomes of a declaration, given the schedule of that name as it is.

The code and an operator may both change a schedule. The row remembers what the code said last, so that each can be
told from the other: a declaration that says nothing new never undoes an edit.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from .decided import NONE, DecidedSlots
from .errors import ScheduleUnreadable
from .limits import EARLIEST
from .schedule import Declaration, Definition, Schedule
from .schedule_changes import Change, created, edited
from .schedule_facts import describe
from .vocabulary import ControlEventName

_IN_MICROSECONDS = "_us"
_PAYLOAD = "payload"


class Action(StrEnum):
    """What was done about one schedule, or is the matter with it."""

    CREATED = "created"
    EDITED = "edited"
    ADOPTED = "adopted"
    """It is what the code says already, and counts as declared from now on."""
    UNCHANGED = "unchanged"
    DRIFTED = "drifted"
    """Somebody has edited it, and the code says nothing new: left alone."""
    CONFLICT = "conflict"
    """The code says something new, but would undo what others have said: left alone."""
    UNDECLARED = "undeclared"
    """The app declared it once, and does not any more."""
    DELETED = "deleted"
    FAILED = "failed"


EVENTS: Mapping[Action, ControlEventName] = {
    Action.CREATED: ControlEventName.SCHEDULE_CREATED,
    Action.EDITED: ControlEventName.SCHEDULE_EDITED,
    Action.ADOPTED: ControlEventName.SCHEDULE_DECLARED,
}
"""Answers to a declaration that change something, and what the history says of it."""


@frozen
class Difference:
    """A field that the schedule and the code say differently; durations in seconds.

    A payload is JSON text, and where the code is not at hand a digest.
    """

    field: str
    schedule: Any
    code: Any


@frozen(kw_only=True)
class Declared:
    """The answer about one schedule; ``declared_by`` is the app whose declaration it had before, if any.

    ``error`` says why it failed, ``again`` whether another try may not.
    """

    name: str
    action: Action
    differences: tuple[Difference, ...] = ()
    declared_by: str | None = None
    error: str | None = None
    again: bool = False


def declaration(app: str, definition: Definition) -> Declaration:
    """Return what is remembered of a declaration: definitions that mean the same give the same text."""
    return Declaration(app, json.dumps(_described(definition), sort_keys=True, separators=(",", ":")))


def judged(
    name: str, schedule: Schedule | None, app: str, definition: Definition, *, force: bool = False
) -> Declared:
    """Decide what becomes of a declaration; ``force`` lets the code have its way, and mends what nobody can read.

    The definition must be in the form in which it is stored.
    """
    if schedule is None:
        return Declared(name=name, action=Action.CREATED)
    before = schedule.declared
    if schedule.fault is not None:
        return Declared(
            name=name,
            action=Action.EDITED if force else Action.FAILED,
            declared_by=None if before is None else before.app,
            error=None if force else str(ScheduleUnreadable(name, schedule.fault)),
        )
    code = declaration(app, definition)
    found = differences(schedule, code)
    return Declared(
        name=name,
        action=_action(schedule, code, differs=bool(found), force=force),
        differences=tuple(_with_payloads(one, schedule, definition) for one in found),
        declared_by=None if before is None else before.app,
    )


def drift(schedule: Schedule) -> tuple[Difference, ...]:
    """Return where a schedule is not what the code said last; nothing for one that no code declares."""
    return () if schedule.declared is None else differences(schedule, schedule.declared)


def differences(schedule: Schedule, code: Declaration) -> tuple[Difference, ...]:
    """Return the fields that a schedule and a declaration say differently; a start left open is any start."""
    is_, said = _fields(_described(schedule.definition)), _fields(json.loads(code.text))
    return tuple(
        Difference(field, is_.get(field), value)
        for field, value in said.items()
        if is_.get(field) != value and not (field == "starts_at" and value is None)
    )


def defined_otherwise(schedule: Schedule, definition: Definition) -> str:
    """Return that a schedule is there which is not what somebody wants to create, and the fields that differ.

    What changes a schedule is for each surface to say.
    """
    found = differences(schedule, declaration("", definition))
    fields = ", ".join(one.field for one in found)
    return f"schedule {schedule.name} is there, and is defined otherwise ({fields})"


def newly_declared(name: str, app: str, definition: Definition, now: datetime) -> Schedule:
    """Return the schedule that a declaration creates; raises InvalidInput as ``created`` does."""
    return evolve(created(name, definition, now), declared=declaration(app, definition))


def redeclared(
    schedule: Schedule,
    app: str,
    definition: Definition,
    answer: Declared,
    now: datetime,
    decided: DecidedSlots = NONE,
) -> Change:
    """Return the change that ``EDITED`` or ``ADOPTED`` stands for.

    Adopting decides nothing about fire times, so that it is no new version. Raises InvalidInput as ``edited`` does.
    """
    edit = answer.action is Action.EDITED
    change = edited(schedule, definition, now, decided) if edit else Change(schedule=schedule)
    return evolve(change, schedule=evolve(change.schedule, declared=declaration(app, definition)))


def _action(schedule: Schedule, code: Declaration, *, differs: bool, force: bool) -> Action:
    before = schedule.declared
    if not differs:
        return Action.UNCHANGED if before == code else Action.ADOPTED
    if force:
        return Action.EDITED
    if before is not None and before.text == code.text:
        return Action.DRIFTED
    if before is None or before.app != code.app or differences(schedule, before):
        return Action.CONFLICT
    return Action.EDITED


def _with_payloads(one: Difference, schedule: Schedule, definition: Definition) -> Difference:
    if one.field != _PAYLOAD:
        return one
    return Difference(_PAYLOAD, schedule.definition.template.payload, definition.template.payload)


def _described(definition: Definition) -> dict[str, Any]:
    described = describe(definition.starting(EARLIEST))
    return described if definition.timing.starts_at is not None else {**described, "starts_at": None}


def _fields(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts under the names that people give them, without levels."""
    flat = {**described, **described["job"]}
    del flat["job"], flat["effect_key"]
    flat[_PAYLOAD], flat["retry"] = flat.pop("payload_digest"), _in_seconds(flat["retry"])
    return _in_seconds(flat)


def _in_seconds(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.removesuffix(_IN_MICROSECONDS): _seconds(value) if name.endswith(_IN_MICROSECONDS) else value
        for name, value in told.items()
    }


def _seconds(microseconds: int | list[int] | None) -> Any:
    if isinstance(microseconds, list):
        return [_seconds(one) for one in microseconds]
    return None if microseconds is None else microseconds / 1_000_000
