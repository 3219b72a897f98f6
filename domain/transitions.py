"""The one transition table: which command moves a job from where to where, under which conditions.

``decide`` reads it, the PostgreSQL adapter builds its statements from it, the checker judges histories by it. A pair
of state and command that no rule covers is refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from attrs import field, frozen

from .conditions import Condition as If
from .vocabulary import CommandName as Do
from .vocabulary import EventName as Event
from .vocabulary import State


class Due(StrEnum):
    """How a transition sets ``run_at``."""

    KEEP = "keep"
    NOW = "now"
    DELAY = "delay"
    BACKOFF = "backoff"
    EDITED = "edited"


def _own(when: Mapping[If, bool]) -> Mapping[If, bool]:
    return dict(when)


@frozen
class Rule:
    """One row: when ``command`` meets a job in ``source`` and every condition is as stated, ``event`` happens.

    ``event`` None means that the command's aim is reached already: no event, verdict ``already_applied``.
    ``counts`` tells whether the attempt uses up retry budget.
    """

    command: Do
    source: State
    when: Mapping[If, bool] = field(converter=_own)
    event: Event | None
    target: State
    due: Due = Due.KEEP
    counts: bool = False


def _failing(command: Do, event: Event, when: Mapping[If, bool]) -> Iterator[Rule]:
    """Yield the rules of an attempt that failed: cancelled if wanted, dead if spent, else back off."""
    asked, spent = {If.CANCEL_REQUESTED: True}, {If.CANCEL_REQUESTED: False, If.SPENT: True}
    left = {If.CANCEL_REQUESTED: False, If.SPENT: False}
    yield Rule(command, State.RUNNING, {**when, **asked}, event, State.CANCELLED, counts=True)
    yield Rule(command, State.RUNNING, {**when, **spent}, event, State.DEAD, counts=True)
    if command is Do.EXPIRE:
        first = {**when, **left, If.FIRST_EXPIRY: True}
        yield Rule(command, State.RUNNING, first, event, State.PENDING, Due.NOW, counts=True)
        left[If.FIRST_EXPIRY] = False
    yield Rule(command, State.RUNNING, {**when, **left}, event, State.PENDING, Due.BACKOFF, counts=True)


def _returning(command: Do, event: Event, due: Due) -> Iterator[Rule]:
    """Yield the rules of an attempt handed back without fault: free of charge below the cap."""
    free = {If.TOKEN: True, If.IDLE_CAPPED: False}
    asked, unasked = {**free, If.CANCEL_REQUESTED: True}, {**free, If.CANCEL_REQUESTED: False}
    yield Rule(command, State.RUNNING, asked, event, State.CANCELLED)
    yield Rule(command, State.RUNNING, unasked, event, State.PENDING, due)
    yield from _failing(command, Event.FAILED, {If.TOKEN: True, If.IDLE_CAPPED: True})


HELD: Mapping[If, bool] = {If.TOKEN: True}

RULES: tuple[Rule, ...] = (
    Rule(Do.CLAIM, State.PENDING, {If.DUE: True}, Event.CLAIMED, State.RUNNING),
    Rule(Do.SUCCEED, State.RUNNING, HELD, Event.SUCCEEDED, State.SUCCEEDED),
    Rule(Do.DISCARD, State.RUNNING, HELD, Event.DIED, State.DEAD),
    *_failing(Do.FAIL, Event.FAILED, HELD),
    *_failing(Do.TIMEOUT, Event.FAILED, HELD),
    *_returning(Do.SNOOZE, Event.SNOOZED, Due.DELAY),
    *_returning(Do.RELEASE, Event.RELEASED, Due.KEEP),
    Rule(
        Do.CONFIRM_CANCEL,
        State.RUNNING,
        {**HELD, If.CANCEL_REQUESTED: True},
        Event.CANCELLED,
        State.CANCELLED,
    ),
    *_failing(Do.EXPIRE, Event.LEASE_EXPIRED, {If.LAPSED: True}),
    Rule(Do.CANCEL, State.PENDING, {}, Event.CANCELLED, State.CANCELLED),
    Rule(Do.CANCEL, State.RUNNING, {If.CANCEL_REQUESTED: False}, Event.CANCEL_REQUESTED, State.RUNNING),
    Rule(Do.CANCEL, State.RUNNING, {If.CANCEL_REQUESTED: True}, None, State.RUNNING),
    Rule(Do.CANCEL, State.CANCELLED, {}, None, State.CANCELLED),
    Rule(Do.REVOKE, State.RUNNING, {If.CANCEL_WANTED: True}, Event.REVOKED, State.CANCELLED),
    Rule(Do.REVOKE, State.RUNNING, {If.CANCEL_WANTED: False}, Event.REVOKED, State.PENDING, Due.NOW),
    Rule(Do.REQUEUE, State.DEAD, {}, Event.REQUEUED, State.PENDING, Due.NOW),
    Rule(Do.REQUEUE, State.CANCELLED, {}, Event.REQUEUED, State.PENDING, Due.NOW),
    Rule(Do.REQUEUE, State.SUCCEEDED, {If.EFFECT_KEY_CHOSEN: True}, Event.REQUEUED, State.PENDING, Due.NOW),
    Rule(Do.EDIT, State.PENDING, {}, Event.EDITED, State.PENDING, Due.EDITED),
    Rule(Do.DISMISS, State.DEAD, {If.DISMISSED: False}, Event.DISMISSED, State.DEAD),
    Rule(Do.DISMISS, State.DEAD, {If.DISMISSED: True}, None, State.DEAD),
)


def rules_of(commands: Iterable[Do]) -> tuple[Rule, ...]:
    """Return the rules of the given commands, in the table's order."""
    wanted = frozenset(commands)
    return tuple(rule for rule in RULES if rule.command in wanted)


MOVES = frozenset((rule.source, rule.event, rule.target) for rule in RULES if rule.event is not None)
"""Every (state before, event, state after) a history may show."""
