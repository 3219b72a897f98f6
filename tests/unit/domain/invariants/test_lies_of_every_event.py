"""The same lies told by each kind of event, as the last one of its history, with the row rewritten to fit."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import fold
from fencepost.domain.vocabulary import EventName as Name
from fencepost.domain.vocabulary import State
from support.histories import Story, broken, judged


def _running() -> Story:
    return Story().submit().claim()


LAST: dict[Name, Callable[[], Story]] = {
    Name.CLAIMED: _running,
    Name.SUCCEEDED: lambda: _running().succeed(),
    Name.FAILED: lambda: _running().fail(),
    Name.DIED: lambda: _running().discard(),
    Name.SNOOZED: lambda: _running().snooze(),
    Name.RELEASED: lambda: _running().release(),
    Name.LEASE_EXPIRED: lambda: _running().expire(),
    Name.CANCEL_REQUESTED: lambda: _running().cancel(),
    Name.CANCELLED: lambda: _running().cancel().confirm(),
    Name.REVOKED: lambda: _running().revoke(),
    Name.REQUEUED: lambda: _running().discard().requeue(),
    Name.EDITED: lambda: _running().release().edit(priority=1),
    Name.DISMISSED: lambda: _running().discard().dismiss(),
}
REPORTS = {Name.SUCCEEDED, Name.FAILED, Name.DIED, Name.SNOOZED, Name.RELEASED, Name.CANCELLED}
ENDINGS = REPORTS | {Name.LEASE_EXPIRED, Name.REVOKED}
OPERATIONS = {Name.CANCEL_REQUESTED, Name.REVOKED, Name.REQUEUED, Name.EDITED, Name.DISMISSED}


def told_with(name: Name, **lie: Any) -> set[str]:
    """What is broken when the last event of this kind says so."""
    events: list[JobEvent] = LAST[name]().events
    events[-1] = evolve(events[-1], **lie)
    return broken(judged(events, fold(events)))


@pytest.mark.parametrize("name", LAST)
def test_every_kind_of_event_has_a_history_that_ends_with_it(name: Name) -> None:
    """The lies below are told by the event they are ascribed to, and without one nothing is broken."""
    assert LAST[name]().events[-1].name is name
    assert told_with(name) == set()


@pytest.mark.parametrize("name", LAST)
def test_no_event_counts_failures_at_will(name: Name) -> None:
    """One failure too many is found in whatever event it appears."""
    honest = LAST[name]().events[-1].failures
    expected = {Name.SNOOZED: "I20", Name.RELEASED: "I20", Name.REQUEUED: "I22"}.get(name, "I18")
    assert expected in told_with(name, failures=honest + 1)


@pytest.mark.parametrize("name", LAST)
def test_no_event_presents_another_attempt(name: Name) -> None:
    """Reports must hold the token, everybody else must leave the attempt alone."""
    expected = "I10" if name in REPORTS else "I22" if name is Name.REQUEUED else "I8"
    assert expected in told_with(name, attempt=2)


@pytest.mark.parametrize("name", sorted(LAST.keys() - {Name.CLAIMED}))
def test_no_event_presents_another_claim(name: Name) -> None:
    """The claim named is the open one, or none."""
    assert told_with(name, claim_id="another") == {"I10"}


@pytest.mark.parametrize("name", LAST)
def test_no_event_leads_to_another_state(name: Name) -> None:
    """A state that the table does not lead to is found."""
    state = State.DEAD if name is Name.SUCCEEDED else State.SUCCEEDED
    assert "I4" in told_with(name, state=state)


@pytest.mark.parametrize("name", LAST)
def test_no_event_carries_a_payload_without_a_digest(name: Name) -> None:
    """Payloads come only with events that say so, and with their digest."""
    expected = "I6" if name in {Name.REQUEUED, Name.EDITED} else "I7"
    assert expected in told_with(name, payload='{"n":9}')


@pytest.mark.parametrize("name", sorted(ENDINGS))
def test_every_ending_tells_of_its_lease(name: Name) -> None:
    """The lease in force and the heartbeats are part of every ending."""
    assert told_with(name, lease_expires_at=None) == {"I12"}
    assert told_with(name, heartbeats=None) == {"I12"}


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_leaves_a_paper_trail(name: Name) -> None:
    """An operation by nobody, or in no request, is found."""
    assert told_with(name, request_id=None) == {"I38"}
    assert told_with(name, actor="") == {"I38"}


def test_a_report_needs_no_request_id() -> None:
    """Workers' reports are known by their token."""
    assert LAST[Name.CANCELLED]().events[-1].request_id is None


@pytest.mark.parametrize(("name", "expected"), [(Name.CANCEL_REQUESTED, {"I4"}), (Name.DISMISSED, {"I4"})])
def test_what_is_done_once_is_not_done_again(name: Name, expected: set[str]) -> None:
    """A second request to cancel, or a second dismissal, would have been answered without an event."""
    events = LAST[name]().events
    events.append(evolve(events[-1], seq=events[-1].seq + 1, position=None))
    assert broken(judged(events, fold(events))) == expected


def test_a_job_may_be_snoozed_for_no_time_but_not_into_the_past() -> None:
    """A snooze counts from now on."""
    at = LAST[Name.SNOOZED]().events[-1].at
    assert told_with(Name.SNOOZED, run_at=at) == set()
    assert told_with(Name.SNOOZED, run_at=at.replace(year=2029)) == {"I4"}


def test_a_lease_lasts_until_its_deadline_has_passed() -> None:
    """Reaping at the very deadline is too early."""
    deadline = LAST[Name.LEASE_EXPIRED]().events[-1].lease_expires_at
    assert deadline is not None
    later = deadline.replace(microsecond=1)
    assert told_with(Name.LEASE_EXPIRED, at=deadline, run_at=deadline) == {"I11"}
    assert told_with(Name.LEASE_EXPIRED, at=later, run_at=later) == set()


def test_a_retry_budget_cannot_be_overdrawn() -> None:
    """A requeue that forgets to reset failures lets the next failure go beyond max_attempts, which is said, too."""
    story = Story().submit(max_attempts=1).claim().fail().requeue().claim().fail()
    events = [evolve(e, failures=e.failures + 1) if e.seq > 3 else e for e in story.events]
    report = judged(events, fold(events))
    assert [(v.invariant, v.seq) for v in report.violations] == [("I22", 4), ("I18", 6)]
