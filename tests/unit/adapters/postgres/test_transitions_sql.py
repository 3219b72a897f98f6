"""The transition table as SQL: everything the table can say has its words."""

from itertools import combinations

import pytest

from fencepost.adapters.postgres.conditions import CONDITIONS, columns, render
from fencepost.adapters.postgres.effects import EFFECT_SQL, GIVEN
from fencepost.adapters.postgres.tables import tables
from fencepost.adapters.postgres.transitions_sql import Transitions, quoted
from fencepost.domain.conditions import Condition
from fencepost.domain.effects import EFFECTS, Effect
from fencepost.domain.transitions import rules_of
from fencepost.domain.vocabulary import REPORTS, CommandName

SET_BASED = REPORTS | {CommandName.CLAIM, CommandName.EXPIRE}
REACHABLE = rules_of(SET_BASED)
MIXES = [frozenset(mix) for size in (1, 2, len(REPORTS)) for mix in combinations(sorted(REPORTS), size)]


def test_every_condition_a_batch_can_meet_is_rendered() -> None:
    """Claim, report and expire meet no condition without an expression; and none is kept for nothing."""
    assert {condition for rule in REACHABLE for condition in rule.when} == set(CONDITIONS)


def test_every_effect_a_batch_can_have_is_rendered() -> None:
    """So with what their events do to fields, and with where given values come from."""
    events = {rule.event for rule in REACHABLE}
    met = {
        (field, effect) for field, by in EFFECTS.items() for event, effect in by.items() if event in events
    }
    assert {effect for _, effect in met} == set(EFFECT_SQL)
    assert {field for field, effect in met if effect is Effect.GIVEN} == set(GIVEN)


def test_conditions_look_at_columns_that_exist() -> None:
    """A renamed column is noticed here."""
    assert columns(CONDITIONS) <= set(tables().jobs.columns.keys())


def test_a_condition_that_must_not_hold_is_negated_as_a_whole() -> None:
    """The negation of a conjunction is not the conjunction of a negation."""
    assert render(Condition.TOKEN, False, job="j", given="r", now="") == (
        "NOT (j.attempt = r.attempt AND j.claim_id = r.claim_id)"
    )


@pytest.mark.parametrize("commands", MIXES, ids=lambda mix: " ".join(sorted(mix)))
def test_what_all_rules_demand_is_asked_once_and_the_rest_by_case(commands: frozenset[CommandName]) -> None:
    """The token guards every report; each rule has its number, in the table's order."""
    transitions = Transitions(commands, given=("claim_id",))
    assert transitions.shared[Condition.TOKEN] is True
    rules = rules_of(commands)
    numbers = [f"THEN {number}" in transitions.ruling for number in range(len(rules))]
    assert numbers == [True] * len(rules) or transitions.ruling == "0"


def test_a_batch_of_successes_decides_nothing() -> None:
    """It is as lean as if written by hand: no CASE, nothing read of the job but its lease and heartbeats."""
    transitions = Transitions(frozenset({CommandName.SUCCEED}), given=("claim_id",))
    assert "CASE" not in transitions.assignments + str(transitions.event)
    assert transitions.held == ["heartbeats", "lease_expires_at"]


def test_constants_cannot_become_parameters_or_end_early() -> None:
    """Colons and quotes inside are kept as they are."""
    assert quoted("it's a :name") == r"'it''s a \:name'"
