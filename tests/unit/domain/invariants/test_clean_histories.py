"""The checker raises no false alarm."""

from collections import Counter
from itertools import pairwise

import pytest

from fencepost.domain.invariants import ClockStep, check
from fencepost.domain.transitions import MOVES
from fencepost.domain.vocabulary import State
from support.histories import LONG_AFTER, SECOND, STORIES, Story, broken, judged, log_of


@pytest.mark.parametrize("name", STORIES)
def test_a_history_made_by_the_decider_keeps_every_promise(name: str) -> None:
    """Each kind of history the transition table allows is clean."""
    story = STORIES[name]()
    report = judged(story.events, story.row)
    assert report.violations == ()
    assert report.clean


def test_the_stories_take_every_move_of_the_table() -> None:
    """No move of the transition table is left out of the clean histories."""
    taken = set()
    for make in STORIES.values():
        events = make().events
        for before, event in pairwise(events):
            taken.add((before.state, event.name, event.state))
    missing = set(MOVES) - taken
    assert missing == set()


def test_a_running_job_may_have_a_later_lease_than_its_claim() -> None:
    """Heartbeats are not events: they only show in the row, and in the ending."""
    story = Story().submit().claim().after(9).heartbeat()
    assert judged(story.events, story.row).clean
    story.succeed()
    assert story.events[-1].heartbeats == 1
    assert judged(story.events, story.row).clean


def test_a_clock_set_back_is_reported_but_breaks_nothing() -> None:
    """A step back of ``at`` within a job is shown with its size."""
    story = Story().submit().claim().after(-2).succeed()
    report = judged(story.events, story.row)
    assert report.clean
    assert report.clock_steps == (ClockStep(1, 3, 2 * SECOND),)


def test_an_event_may_be_as_young_as_the_verifiers_clock() -> None:
    """Only what is later than the clock lies in the future."""
    story = Story().submit().claim().after(1).succeed()
    assert check(log_of(story), [], story.now).clean
    assert broken(check(log_of(story), [], story.now - SECOND)) == {"I3"}


def test_a_report_after_the_lease_has_lapsed_is_accepted() -> None:
    """The token decides, not the clock."""
    story = Story().submit().claim().after(3600).succeed()
    assert judged(story.events, story.row).clean


def test_the_report_counts_what_it_read() -> None:
    """Events, jobs, event names and states of rows are counted."""
    one, two = Story(1).submit().claim().succeed(), Story(2).submit()
    report = check(log_of(one, two), [], LONG_AFTER)
    assert (report.events, report.jobs) == (4, 2)
    assert report.events_by_name == Counter(event.name for event in [*one.events, *two.events])
    assert report.jobs_by_state == {State.SUCCEEDED: 1, State.PENDING: 1}


def test_an_empty_log_is_clean() -> None:
    """Nothing happened, nothing is broken."""
    report = check([], [], LONG_AFTER)
    assert (report.clean, report.events, report.jobs) == (True, 0, 0)


def test_jobs_are_judged_apart_from_each_other() -> None:
    """A fault in one job is reported for that job only."""
    one, two, three = (Story(number).submit().claim().fail().claim() for number in (1, 2, 3))
    del two.events[2]
    report = check(log_of(one, two, three), [], LONG_AFTER)
    assert {violation.job_id for violation in report.violations} == {2}
    assert broken(report) == {"I1"}
