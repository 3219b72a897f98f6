"""Events deleted, repeated, swapped, moved in time: the log itself was forged."""

from collections.abc import Callable

import pytest
from attrs import evolve

from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import evolve as applied
from fencepost.domain.invariants import check
from fencepost.domain.job import Job
from fencepost.domain.vocabulary import EventName
from support.histories import LONG_AFTER, SECOND, Story, broken, judged

Events = list[JobEvent]


def story() -> Story:
    """Two failures and a success."""
    return Story().submit().claim().fail().claim().fail().claim().succeed("1")


FORGERIES: dict[str, tuple[Callable[[Events], Events], set[str]]] = {
    "the first event deleted": (lambda events: events[1:], {"I1"}),
    "the first event deleted and the rest renumbered": (
        lambda events: [evolve(event, seq=event.seq - 1) for event in events[1:]],
        {"I1"},
    ),
    "an event in the middle deleted": (lambda events: events[:3] + events[4:], {"I1"}),
    "the last event deleted": (lambda events: events[:-1], {"I2"}),
    "the last three events deleted": (lambda events: events[:-3], {"I2"}),
    "an event repeated": (lambda events: [*events[:3], events[2], *events[3:]], {"I1", "I3"}),
    "the first event repeated with the next seq": (
        lambda events: [*events, evolve(events[0], seq=8, position=None)],
        {"I1"},
    ),
    "two events swapped": (lambda events: [*events[:2], events[3], events[2], *events[4:]], {"I1", "I3"}),
    "two positions swapped": (
        lambda events: [
            *events[:2],
            evolve(events[2], position=events[3].position),
            evolve(events[3], position=events[2].position),
            *events[4:],
        ],
        {"I3"},
    ),
    "an ending in the future": (
        lambda events: [*events[:-1], evolve(events[-1], at=LONG_AFTER + SECOND)],
        {"I3"},
    ),
    "an unknown event name": (
        lambda events: [*events[:-1], evolve(events[-1], name=EventName("vanished"))],
        {"I2", "I4"},
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_order_is_found(forgery: str) -> None:
    """Each forgery breaks exactly the promises named, while the row stays as it was."""
    forge, expected = FORGERIES[forgery]
    told = story()
    assert broken(judged(forge(told.events), told.row)) == expected


def test_every_single_deleted_event_is_found() -> None:
    """Whichever one event is missing, something is broken."""
    told = story()
    for index in range(len(told.events)):
        assert not judged(told.events[:index] + told.events[index + 1 :], told.row).clean


def test_all_events_of_a_job_deleted_is_found_by_its_row() -> None:
    """A row that no event tells of did not come from a submit."""
    report = judged([], story().row)
    assert [(v.invariant, v.job_id) for v in report.violations] == [("I2", 1)]


def test_a_deleted_row_is_found_by_its_events() -> None:
    """Events whose job is gone without a tombstone, the last job of the log included."""
    one, two = Story(1).submit(), Story(2).submit()
    report = check([*one.events, *two.events], [], LONG_AFTER)
    assert [(v.invariant, v.job_id, v.what) for v in report.violations] == [
        ("I2", 1, "events without a row"),
        ("I2", 2, "events without a row"),
    ]


def test_a_history_of_an_unknown_event_name_can_be_folded_and_judged() -> None:
    """A newer version's event is reported, and moves the job by what every event carries."""
    told = Story().submit().claim().discard()
    told.add(evolve(told.events[-1], name=EventName("archived"), seq=4))
    assert told.job.seq == 4
    report = judged(told.events, told.row)
    assert [(v.invariant, v.seq, v.what) for v in report.violations] == [
        ("I4", 4, "no event is called archived")
    ]


def test_after_a_gap_the_rest_of_the_job_is_not_guessed_at() -> None:
    """One deleted event is one violation, not one for everything that depended on it."""
    told = story()
    assert len(judged(told.events[:1] + told.events[2:], told.row).violations) == 1


def test_a_row_of_another_job_does_not_stand_in() -> None:
    """Events of one job followed by the row of another: both are incomplete."""
    row: Job = applied(None, Story(2).submit().events[0])
    report = judged(Story(1).submit().events, row)
    assert [(v.invariant, v.job_id) for v in report.violations] == [("I2", 1), ("I2", 2)]
