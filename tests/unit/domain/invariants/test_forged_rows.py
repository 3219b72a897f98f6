"""The row changed behind the back of its events."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from fencepost.domain.retry import Exponential
from fencepost.domain.vocabulary import ControlEventName, State
from support.histories import SECOND, START, STORIES, Story, broken, control, judged

LIFE: dict[str, tuple[str, Any]] = {
    "seq": ("succeeded", 4),
    "state": ("succeeded", State.PENDING),
    "attempt": ("succeeded", 0),
    "failures": ("given wait", 0),
    "expiries": ("succeeded", 1),
    "idle_returns": ("returned", 0),
    "run_at": ("given wait", START),
    "worker": ("returned", "worker:two"),
    "claim_id": ("returned", "claim-9"),
    "cancel_requested_at": ("confirmed", None),
    "dismissed": ("succeeded", True),
    "result": ("succeeded", '{"sent":false}'),
    "heartbeats": ("succeeded", 1),
    "lease_expires_at": ("succeeded", START),
}
FACTS: dict[str, tuple[str, Any]] = {
    "type": ("succeeded", "spam"),
    "queue": ("edited", "default"),
    "priority": ("edited", 5),
    "max_attempts": ("succeeded", 30),
    "timeout": ("succeeded", timedelta(hours=1)),
    "lease": ("succeeded", timedelta(hours=1)),
    "retry": ("succeeded", Exponential()),
    "effect_key": ("requeued", None),
    "submitted_at": ("succeeded", START - SECOND),
    "payload": ("succeeded", '{"n":8}'),
}


@pytest.mark.parametrize("field", LIFE)
def test_a_changed_field_of_the_row_is_found(field: str) -> None:
    """What the events make of a job is what its row must show."""
    name, value = LIFE[field]
    story = STORIES[name]()
    assert broken(judged(story.events, evolve(story.job, **{field: value}))) == {"I2"}


@pytest.mark.parametrize("field", FACTS)
def test_a_changed_fact_of_submission_is_found(field: str) -> None:
    """The specification changes only by an event that says so."""
    name, value = FACTS[field]
    story = STORIES[name]()
    assert broken(judged(story.events, evolve(story.job, **{field: value}))) == {"I7"}


def test_the_witness_names_the_field_and_both_values() -> None:
    """A violation can be acted upon without a second query."""
    story = STORIES["succeeded"]()
    [violation] = judged(story.events, evolve(story.job, attempt=7)).violations
    assert (violation.job_id, violation.what) == (1, "row: attempt is 7, events say 1")


@pytest.mark.parametrize(
    ("lease", "heartbeats"),
    [(-1, 1), (1, 0), (0, -1), (None, 1), (None, 0)],
    ids=["shortened", "grown without a heartbeat", "fewer than no heartbeats", "gone", "never there"],
)
def test_the_lease_of_a_running_job_only_grows_by_heartbeats(lease: int | None, heartbeats: int) -> None:
    """The row's lease is the granted one, or a later one after heartbeats."""
    story = Story().submit().claim()
    granted = story.job.lease_expires_at
    assert granted is not None
    moved = None if lease is None else granted + lease * SECOND
    row = evolve(story.job, lease_expires_at=moved, heartbeats=heartbeats)
    assert broken(judged(story.events, row)) == {"I2"}


def test_a_payload_may_be_erased_from_the_events_and_the_row() -> None:
    """The digest stays in the history, which is as clean as before."""
    story = STORIES["requeued"]()
    events = [evolve(event, payload=None) for event in story.events]
    erased = [control(ControlEventName.PAYLOAD_ERASED, "job:1", 1)]
    assert judged(events, evolve(story.job, payload=None), erased).clean


def test_a_payload_may_be_erased_from_the_events_only() -> None:
    """What is left in the row must still have the digest that the events kept."""
    story = STORIES["requeued"]()
    events = [evolve(event, payload=None) for event in story.events]
    erased = [control(ControlEventName.PAYLOAD_ERASED, "job:1", 1)]
    assert judged(events, story.job, erased).clean
    assert broken(judged(events, evolve(story.job, payload="{}"), erased)) == {"I7"}


def test_a_payload_that_vanished_is_not_an_erased_one() -> None:
    """Without an erasure of that very job a missing payload is found, in the row as in the events."""
    story = STORIES["succeeded"]()
    other = [
        control(ControlEventName.PAYLOAD_ERASED, "job:2", 1),
        control(ControlEventName.JOBS_PRUNED, "jobs", 2, data={"job_ids": [2]}),
    ]
    assert broken(judged(story.events, evolve(story.job, payload=None), other)) == {"I7"}
    events = [evolve(event, payload=None) for event in story.events]
    assert broken(judged(events, story.job, other)) == {"I6"}


def test_an_edit_after_an_erasure_cannot_name_the_old_payload() -> None:
    """The old digest is missing, which only an erasure explains."""
    story = Story().submit()
    story.row = evolve(story.job, payload=None)
    story.edit(payload='{"n":4}')
    story.events[0] = evolve(story.events[0], payload=None)
    erased = [control(ControlEventName.PAYLOAD_ERASED, "job:1", 1)]
    assert judged(story.events, story.row, erased).clean
    assert broken(judged(story.events, story.row)) == {"I6", "I7"}


def test_a_job_may_be_submitted_without_a_payload() -> None:
    """No payload has no digest, and nothing is missing."""
    story = Story().submit(payload=None).claim()
    assert judged(story.events, story.row).clean
    assert broken(judged(story.events, evolve(story.job, payload="{}"))) == {"I7"}
