"""What events do to a row's fields."""

import pytest
from attrs import fields_dict

from fencepost.domain.effects import EFFECTS, ENDINGS, Effect
from fencepost.domain.job import Job
from fencepost.domain.vocabulary import EventName


def test_effects_are_on_fields_of_a_job() -> None:
    """Every field of the table exists, and none that the event itself carries is in it."""
    assert set(EFFECTS) <= set(fields_dict(Job))
    assert not {"state", "seq", "failures", "run_at"} & set(EFFECTS)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_clears_the_lease(ending: EventName) -> None:
    """Worker, claim and lease are gone from the row after whatever ended it."""
    for field in ("worker", "claim_id", "lease_expires_at"):
        assert EFFECTS[field][ending] is Effect.CLEAR


def test_attempt_is_changed_by_a_claim_alone() -> None:
    """Nothing resets the attempt, not even a requeue."""
    assert EFFECTS["attempt"] == {EventName.CLAIMED: Effect.INCREMENT}


@pytest.mark.parametrize("ending", ENDINGS)
def test_streaks_end_with_any_other_ending(ending: EventName) -> None:
    """Expiries and idle returns count only what happened in a row."""
    grows_expiries = ending is EventName.LEASE_EXPIRED
    grows_idle = ending in {EventName.SNOOZED, EventName.RELEASED}
    assert EFFECTS["expiries"][ending] is (Effect.INCREMENT if grows_expiries else Effect.ZERO)
    assert EFFECTS["idle_returns"][ending] is (Effect.INCREMENT if grows_idle else Effect.ZERO)


@pytest.mark.parametrize("field", ["expiries", "idle_returns", "cancel_requested_at", "dismissed", "result"])
def test_a_requeue_starts_over(field: str) -> None:
    """Everything that belongs to the past but the attempt is cleared by a requeue."""
    assert EFFECTS[field][EventName.REQUEUED] in {Effect.ZERO, Effect.CLEAR, Effect.FALSE}
