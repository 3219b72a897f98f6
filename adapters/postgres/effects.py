"""What events do to a row, in SQL: ``j`` is the row being updated, ``h`` what was ruled about it."""

from collections.abc import Callable, Iterable, Mapping

from ...domain.effects import EFFECTS, Effect
from ...domain.vocabulary import EventName

Value = Callable[[str], str]

EFFECT_SQL: Mapping[Effect, str] = {
    Effect.INCREMENT: "j.{field} + 1",
    Effect.ZERO: "0",
    Effect.CLEAR: "NULL",
    Effect.GIVEN: "{given}",
}

GIVEN: Mapping[str, Callable[[Value], str]] = {
    "worker": lambda value: value("actor"),
    "claim_id": lambda value: value("claim_id"),
    "lease_expires_at": lambda value: "h.at + j.lease",
    "result": lambda value: f"CAST({value('result')} AS json)",
}
"""The values that events carry for fields."""


def touched(events: Iterable[EventName]) -> list[str]:
    """Return the fields that any of the events changes."""
    names = set(events)
    return [field for field, by_event in EFFECTS.items() if names & set(by_event)]


def after(field: str, event: EventName, value: Value) -> str:
    """Return the SQL of a field's value after an event; ``value`` gives what came with the command."""
    effect = EFFECTS[field].get(event)
    if effect is None:
        return f"j.{field}"
    given = GIVEN[field](value) if effect is Effect.GIVEN else ""
    return EFFECT_SQL[effect].format(field=field, given=given)
