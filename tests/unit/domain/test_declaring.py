"""What becomes of a declaration, given the schedule of that name as it is: the rules, without any database."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from fencepost.domain.declaring import (
    Action,
    Difference,
    declaration,
    defined_otherwise,
    drift,
    judged,
    newly_declared,
    redeclared,
)
from fencepost.domain.recurrence import Dst
from fencepost.domain.retry import Constant, Delays
from fencepost.domain.schedule import Declaration, Definition, Missed, Overlap, Schedule
from fencepost.domain.schedule_changes import created, edited, paused
from support.schedules import MIDNIGHT, MINUTE, NAME, definition

APP = "myapp.jobs:app"
OTHER = "myapp.other:app"


def said(cron: str = "*/5 * * * *", **fields: Any) -> Definition:
    """What code says: it leaves the start open."""
    return definition(cron, **{"starts_at": None, **fields})


def declared(code: Definition, app: str = APP) -> Schedule:
    """A schedule that a declaration has created."""
    return newly_declared(NAME, app, code, MIDNIGHT)


def changed(schedule: Schedule, to: Definition) -> Schedule:
    """The same after an operator's edit."""
    return edited(schedule, to, MIDNIGHT).schedule


def answer(schedule: Schedule | None, code: Definition, app: str = APP, *, force: bool = False) -> Action:
    """What becomes of it."""
    return judged(NAME, schedule, app, code, force=force).action


def test_what_is_not_there_is_created() -> None:
    """It remembers what the code said, and which app."""
    assert answer(None, said()) is Action.CREATED
    assert declared(said()).declared == declaration(APP, said())


def test_the_same_declaration_again_changes_nothing() -> None:
    """As each start of each worker says it."""
    assert answer(declared(said()), said()) is Action.UNCHANGED
    assert answer(declared(said()), said(), force=True) is Action.UNCHANGED


def test_code_that_has_changed_edits_the_schedule() -> None:
    """The change is an edit like any other, and remembered."""
    before, code = declared(said()), said("0 12 * * *", priority=8)
    found = judged(NAME, before, APP, code)
    assert found.action is Action.EDITED
    assert set(found.differences) == {
        Difference("cron", "*/5 * * * *", "0 12 * * *"),
        Difference("priority", 5, 8),
    }
    after = redeclared(before, APP, code, found, MIDNIGHT).schedule
    assert (after.version, after.next_fire_at) == (2, MIDNIGHT + timedelta(hours=12))
    assert answer(after, code) is Action.UNCHANGED


def test_an_operators_edit_outlives_starts_of_the_same_code() -> None:
    """It is drift, and shown as such."""
    edit = changed(declared(said()), definition(overlap=Overlap.ALLOW, jitter=MINUTE))
    assert answer(edit, said()) is Action.DRIFTED
    assert set(drift(edit)) == {Difference("overlap", "allow", "skip"), Difference("jitter", 60.0, 0.0)}


def test_the_waits_of_a_retry_policy_are_told_in_seconds() -> None:
    """As people give them."""
    edit = changed(declared(said(retry=Delays((MINUTE, MINUTE / 40)))), said(retry=Constant(MINUTE)))
    [found] = drift(edit)
    assert (found.field, found.schedule) == ("retry", {"policy": "constant", "delay": 60})
    assert found.code == {"policy": "delays", "delays": [60, 1.5]}


def test_code_that_has_changed_does_not_undo_an_operators_edit() -> None:
    """Somebody has to choose, and saying it with force is choosing."""
    edit = changed(declared(said()), definition(overlap=Overlap.ALLOW))
    assert answer(edit, said("0 12 * * *")) is Action.CONFLICT
    assert answer(edit, said("0 12 * * *"), force=True) is Action.EDITED
    assert answer(edit, said(), force=True) is Action.EDITED


def test_an_edit_that_is_brought_into_the_code_is_adopted() -> None:
    """The schedule stays as it is, without a new version, and counts as declared."""
    edit = changed(declared(said()), definition(overlap=Overlap.ALLOW))
    code = said(overlap=Overlap.ALLOW)
    found = judged(NAME, edit, APP, code)
    assert found.action is Action.ADOPTED
    change = redeclared(edit, APP, code, found, MIDNIGHT + MINUTE * 7)
    assert change.schedule == evolve(edit, declared=declaration(APP, code))
    assert change.firings == ()
    assert drift(change.schedule) == ()


def test_a_schedule_that_no_code_declares_is_adopted_only_as_it_is() -> None:
    """Otherwise it may be anybody's."""
    by_hand = created(NAME, definition(), MIDNIGHT)
    assert answer(by_hand, said()) is Action.ADOPTED
    assert answer(by_hand, said("0 12 * * *")) is Action.CONFLICT
    assert answer(by_hand, said("0 12 * * *"), force=True) is Action.EDITED
    assert drift(by_hand) == ()


def test_another_apps_schedule_is_taken_over_only_as_it_is() -> None:
    """A module that was moved takes its schedules along; two apps do not fight over one."""
    theirs = declared(said(), OTHER)
    assert answer(theirs, said()) is Action.ADOPTED
    found = judged(NAME, theirs, APP, said("0 12 * * *"))
    assert (found.action, found.declared_by) == (Action.CONFLICT, OTHER)
    assert answer(theirs, said("0 12 * * *"), force=True) is Action.EDITED


def test_a_start_that_the_code_leaves_open_is_any_start() -> None:
    """One that it says is compared."""
    edit = changed(declared(said()), definition(starts_at=MIDNIGHT + MINUTE))
    assert answer(edit, said()) is Action.UNCHANGED
    assert answer(edit, said(starts_at=MIDNIGHT + MINUTE)) is Action.ADOPTED
    assert answer(edit, said(starts_at=MIDNIGHT)) is Action.EDITED


def test_a_pause_is_no_drift_and_outlives_new_code() -> None:
    """Whether a schedule fires at all is for operators to say."""
    still = paused(declared(said()), "the bank is closed", MIDNIGHT).schedule
    assert answer(still, said()) is Action.UNCHANGED
    code = said("0 12 * * *")
    after = redeclared(still, APP, code, judged(NAME, still, APP, code), MIDNIGHT).schedule
    assert (after.paused_at, after.pause_reason, after.next_fire_at) == (MIDNIGHT, "the bank is closed", None)


def test_payloads_are_compared_by_digest_and_shown_where_they_are_known() -> None:
    """A schedule remembers only the digest of the code's."""
    edit = changed(declared(said()), definition(payload='{"a":2}'))
    assert judged(NAME, edit, APP, said()).differences == (Difference("payload", '{"a":2}', '{"a":1}'),)
    [shown] = drift(edit)
    assert (shown.field, len(shown.code)) == ("payload", 64)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cron", "0 0 * * *"),
        ("tz", "Europe/Oslo"),
        ("dst", Dst.WALL),
        ("starts_at", MIDNIGHT),
        ("ends_at", MIDNIGHT + timedelta(days=1)),
        ("jitter", MINUTE),
        ("missed", Missed.SKIP),
        ("catchup_window", MINUTE),
        ("overlap", Overlap.ALLOW),
        ("pause_on_failure", True),
        ("type", "other"),
        ("queue", "other"),
        ("priority", 1),
        ("max_attempts", 1),
        ("timeout", None),
        ("lease", MINUTE),
        ("payload", "{}"),
    ],
)
def test_every_field_makes_another_declaration(field: str, value: Any) -> None:
    """None is left out of what is remembered."""
    code = said(**{field: value})
    assert declaration(APP, code) != declaration(APP, said())
    if field != "starts_at":
        assert [one.field for one in judged(NAME, declared(said()), APP, code).differences] == [field]


def test_a_declaration_is_text_that_the_order_of_nothing_changes() -> None:
    """Compared as it is, by whatever process."""
    assert isinstance(declaration(APP, said()), Declaration)
    assert declaration(APP, said()).text.startswith('{"catchup_window_us":null,"cron":"*/5 * * * *",')


def test_a_schedule_that_is_defined_otherwise_is_told_by_the_fields_that_differ() -> None:
    """A start that is left open is any start; one that is said counts."""
    there = created(NAME, definition(priority=5), MIDNIGHT)
    told = defined_otherwise(there, said("0 * * * *", priority=1))
    assert told == f"schedule {NAME} is there, and is defined otherwise (cron, priority)"
    assert "(starts_at)" in defined_otherwise(there, definition(priority=5, starts_at=MIDNIGHT + MINUTE))
