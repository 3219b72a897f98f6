"""The one table: complete, unambiguous, and saying what the documentation says."""

from itertools import combinations

import pytest

from fencepost.domain.conditions import PREDICATES, Condition
from fencepost.domain.effects import ENDINGS
from fencepost.domain.event import IMPLIED
from fencepost.domain.transitions import MOVES, RULES, Due, Rule, rules_of
from fencepost.domain.vocabulary import (
    OPERATIONS,
    REPORTS,
    TERMINAL,
    CommandName,
    EventName,
    State,
)


@pytest.mark.parametrize("command", [command for command in CommandName if command is not CommandName.SUBMIT])
def test_every_command_has_a_rule(command: CommandName) -> None:
    """No command is always refused."""
    assert rules_of([command])


def test_every_event_comes_from_somewhere() -> None:
    """Each name of an event is written by some rule, ``enqueued`` by the submit."""
    assert {rule.event for rule in RULES} - {None} == set(EventName) - {EventName.ENQUEUED}


def test_two_rules_for_the_same_pair_exclude_each_other() -> None:
    """Rules of one command and state contradict each other in at least one condition, so order means nothing."""
    for one, two in combinations(RULES, 2):
        if (one.command, one.source) == (two.command, two.source):
            assert any(
                two.when.get(condition, wanted) is not wanted for condition, wanted in one.when.items()
            )


def test_terminal_states_are_left_by_requeue_only() -> None:
    """Nothing else brings a finished job back."""
    leaving = {rule.command for rule in RULES if rule.source in TERMINAL and rule.target not in TERMINAL}
    assert leaving == {CommandName.REQUEUE}


def test_only_a_token_opens_a_running_job_to_its_worker() -> None:
    """Every rule of a report starts from running and asks for the token."""
    for rule in rules_of(REPORTS):
        assert rule.source is State.RUNNING
        assert rule.when[Condition.TOKEN] is True


def test_only_a_lapsed_lease_is_reaped() -> None:
    """Every rule of the reaper asks whether the lease has lapsed."""
    assert all(rule.when[Condition.LAPSED] is True for rule in rules_of([CommandName.EXPIRE]))


def test_operators_need_no_token() -> None:
    """No rule of an operation looks at the token."""
    assert all(Condition.TOKEN not in rule.when for rule in rules_of(OPERATIONS))


def test_a_rule_that_writes_nothing_changes_nothing() -> None:
    """``already_applied`` leaves the state as it is and counts nothing."""
    for rule in RULES:
        if rule.event is None:
            assert (rule.target, rule.counts, rule.due) == (rule.source, False, Due.KEEP)


def test_a_job_runs_only_by_a_claim() -> None:
    """No other event leads into running from outside."""
    into = {(source, event) for source, event, target in MOVES if target is State.RUNNING != source}
    assert into == {(State.PENDING, EventName.CLAIMED)}


def test_leaving_running_is_an_ending() -> None:
    """Whatever takes a job out of running clears its lease."""
    leaving = {event for source, event, target in MOVES if source is State.RUNNING != target}
    assert leaving <= set(ENDINGS)


def test_what_counts_is_failure_timeout_expiry_and_the_cap() -> None:
    """Retry budget is used up by failed, timed out and expired attempts, and by returns beyond the cap."""
    counted = {rule.command for rule in RULES if rule.counts}
    assert counted == {
        CommandName.FAIL,
        CommandName.TIMEOUT,
        CommandName.EXPIRE,
        CommandName.SNOOZE,
        CommandName.RELEASE,
    }
    returned = [rule for rule in rules_of([CommandName.SNOOZE, CommandName.RELEASE]) if rule.counts]
    assert all(rule.when[Condition.IDLE_CAPPED] for rule in returned)


def test_events_that_imply_no_command_are_those_several_commands_write() -> None:
    """``failed`` and ``cancelled`` carry their command; every other event names it."""
    commands_of: dict[EventName, set[CommandName]] = {}
    for rule in RULES:
        if rule.event is not None:
            commands_of.setdefault(rule.event, set()).add(rule.command)
    several = {event for event, commands in commands_of.items() if len(commands) > 1}
    assert several == set(EventName) - set(IMPLIED)
    assert all(IMPLIED[event] in commands for event, commands in commands_of.items() if event in IMPLIED)


def test_every_condition_is_used_and_has_a_predicate() -> None:
    """No condition is left over, none is undefined."""
    assert {condition for rule in RULES for condition in rule.when} == set(Condition) == set(PREDICATES)


def test_a_rule_owns_its_conditions() -> None:
    """Changing the mapping a rule was made from does not change the rule."""
    when = {Condition.TOKEN: True}
    rule = Rule(CommandName.SUCCEED, State.RUNNING, when, EventName.SUCCEEDED, State.SUCCEEDED)
    when[Condition.TOKEN] = False
    assert rule.when == {Condition.TOKEN: True}
