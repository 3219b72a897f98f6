"""What each event does to the fields of a job, beside ``state``, ``seq``, ``failures`` and ``run_at``.

Those four are carried by the event itself. ``evolve`` and the PostgreSQL adapter both apply this table.
"""

from collections.abc import Mapping
from enum import StrEnum

from .vocabulary import EventName as Event


class Effect(StrEnum):
    """How a field changes."""

    INCREMENT = "increment"
    ZERO = "zero"
    CLEAR = "clear"
    TRUE = "true"
    FALSE = "false"
    CLOCK = "clock"
    GIVEN = "given"
    """Takes the value that the event carries."""
    GIVEN_IF_ANY = "given_if_any"
    """Takes the value that the event carries, or stays."""


ENDINGS = (
    Event.SUCCEEDED,
    Event.FAILED,
    Event.DIED,
    Event.SNOOZED,
    Event.RELEASED,
    Event.LEASE_EXPIRED,
    Event.REVOKED,
    Event.CANCELLED,
)
"""Events that end an open lease (``cancelled`` also ends a pending job's wait)."""


def _each(events: tuple[Event, ...], effect: Effect) -> dict[Event, Effect]:
    return dict.fromkeys(events, effect)


_LEASE = {Event.CLAIMED: Effect.GIVEN, **_each(ENDINGS, Effect.CLEAR)}

EFFECTS: Mapping[str, Mapping[Event, Effect]] = {
    "attempt": {Event.CLAIMED: Effect.INCREMENT},
    "expiries": {
        **_each(ENDINGS, Effect.ZERO),
        Event.LEASE_EXPIRED: Effect.INCREMENT,
        Event.REQUEUED: Effect.ZERO,
    },
    "idle_returns": {
        **_each(ENDINGS, Effect.ZERO),
        Event.SNOOZED: Effect.INCREMENT,
        Event.RELEASED: Effect.INCREMENT,
        Event.REQUEUED: Effect.ZERO,
    },
    "worker": _LEASE,
    "claim_id": _LEASE,
    "lease_expires_at": _LEASE,
    "heartbeats": {Event.CLAIMED: Effect.ZERO, **_each(ENDINGS, Effect.ZERO)},
    "cancel_requested_at": {Event.CANCEL_REQUESTED: Effect.CLOCK, Event.REQUEUED: Effect.CLEAR},
    "dismissed": {Event.DISMISSED: Effect.TRUE, Event.REQUEUED: Effect.FALSE},
    "result": {Event.SUCCEEDED: Effect.GIVEN, Event.REQUEUED: Effect.CLEAR},
    "payload": {Event.EDITED: Effect.GIVEN_IF_ANY, Event.REQUEUED: Effect.GIVEN_IF_ANY},
    "queue": {Event.EDITED: Effect.GIVEN_IF_ANY},
    "priority": {Event.EDITED: Effect.GIVEN_IF_ANY},
    "effect_key": {Event.REQUEUED: Effect.GIVEN_IF_ANY},
}
