"""What control events say about jobs: pauses, erasures, tombstones, evidence; and people's paper trail."""

from collections.abc import Sequence

import pytest
from attrs import evolve

from fencepost.domain.event import ControlEvent
from fencepost.domain.invariants import Checker, Surroundings, check
from fencepost.domain.vocabulary import ControlEventName as Name
from support.histories import LONG_AFTER, SECOND, START, Story, broken, control, judged, log_of

PAUSING = control(Name.QUEUE_PAUSING, "queue:default", 1000)
PAUSED = control(Name.QUEUE_PAUSED, "queue:default", 1001)


def resumed(position: int) -> ControlEvent:
    """The end of the pause."""
    return control(Name.QUEUE_RESUMED, "queue:default", position)


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ([PAUSING, PAUSED], {"I37"}),
        ([PAUSED, resumed(1003)], {"I37"}),
        ([PAUSED, resumed(1002)], set()),
        ([PAUSED, resumed(1001)], set()),
        ([PAUSING], set()),
        ([resumed(1)], set()),
        ([evolve(PAUSED, position=1), resumed(2), resumed(1009)], set()),
        ([evolve(PAUSED, position=1), evolve(PAUSED, position=2), resumed(3)], set()),
        ([evolve(PAUSED, position=1), resumed(2), PAUSED, resumed(1009)], {"I37"}),
        ([evolve(PAUSED, position=1003)], set()),
        ([control(Name.QUEUE_PAUSED, "queue:other", 1)], set()),
        ([evolve(PAUSED, position=None)], set()),
    ],
)
def test_no_claim_lies_between_paused_and_resumed(
    controls: Sequence[ControlEvent], expected: set[str]
) -> None:
    """The claim at position 1002 is judged by the pauses of its queue, by position."""
    story = Story().submit().claim()
    assert story.events[1].position == 1002
    assert broken(judged(story.events, story.row, controls)) == expected


def test_a_pause_binds_the_queue_a_job_was_moved_to() -> None:
    """An edit moves a job from a paused queue to another, and into one."""
    paused = [control(Name.QUEUE_PAUSED, "queue:slow", 1)]
    out = Story().submit(queue="slow").edit(queue="fast").claim()
    into = Story().submit(queue="fast").edit(queue="slow").claim()
    assert judged(out.events, out.row, paused).clean
    assert broken(judged(into.events, into.row, paused)) == {"I37"}


def test_a_claim_without_a_position_cannot_be_inside_a_pause() -> None:
    """Events that no store has numbered yet are judged by everything else."""
    story = Story().submit().claim()
    events = [evolve(event, position=None) for event in story.events]
    assert judged(events, story.row, [PAUSED]).clean


@pytest.mark.parametrize("name", [Name.QUEUE_PAUSING, Name.QUEUE_PAUSED, Name.QUEUE_RESUMED])
def test_queues_are_paused_and_resumed_by_somebody_in_some_request(name: Name) -> None:
    """A queue event needs an actor and a request id; the witness is its position."""
    anonymous = control(name, "queue:default", 7, request_id=None)
    [violation] = judged([], None, [anonymous]).violations
    assert (violation.invariant, violation.job_id, violation.position) == ("I38", None, 7)
    nobody = evolve(control(name, "queue:default", 7), actor="")
    assert broken(judged([], None, [nobody])) == {"I38"}


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        ({"job_ids": [1, 2]}, False),
        ({"from": 1, "to": 1}, False),
        ({"from": 0, "to": 5}, False),
        ({"job_ids": [2]}, True),
        ({"from": 2, "to": 5}, True),
        ({"number": 1}, True),
    ],
)
def test_events_without_a_row_need_a_tombstone(data: dict[str, object], lost: bool) -> None:
    """A tombstone covers a job by its id or by a range of ids."""
    story = Story().submit().claim().succeed()
    tombstone = control(Name.JOBS_PRUNED, "jobs", 9, data=data)
    assert broken(judged(story.events, None, [tombstone])) == ({"I2"} if lost else set())


def test_a_job_of_which_only_evidence_is_left_was_deleted() -> None:
    """A refused report tells of a job that is neither there nor pruned."""
    evidence = control(Name.REPORT_REFUSED, "job:5", 1)
    tombstone = control(Name.JOBS_PRUNED, "jobs", 2, data={"job_ids": [5]})
    other = Story(4).submit()
    log = log_of(other)
    [violation] = check(log, [evidence], LONG_AFTER).violations
    assert (violation.invariant, violation.job_id) == ("I26", 5)
    assert check(log, [evidence, tombstone], LONG_AFTER).clean


def test_evidence_about_a_job_that_is_there_is_no_news() -> None:
    """The job of a refused report is found in the log."""
    story = Story(5).submit()
    assert judged(story.events, story.row, [control(Name.REPORT_REFUSED, "job:5", 1)]).clean


def test_a_reading_of_one_job_misses_no_other() -> None:
    """Only the job asked for must be there."""
    evidence = [control(Name.REPORT_REFUSED, f"job:{number}", number) for number in (5, 6)]
    checker = Checker(LONG_AFTER, job_id=5)
    for event in evidence:
        checker.control(event)
    assert [v.job_id for v in checker.finish().violations] == [5]


def test_control_events_this_version_does_not_know_teach_nothing() -> None:
    """A newer version's names and subjects are passed over."""
    strange = [
        control(Name("schedule_paused"), "schedule:nightly", 1),
        control(Name("queue_limited"), "queue:default", 2, request_id=None),
        control(Name.REPORT_REFUSED, "job:five", 3),
    ]
    story = Story().submit().claim()
    assert judged(story.events, story.row, strange).clean


def test_a_second_look_clears_what_happened_meanwhile() -> None:
    """A resume, an erasure or a tombstone written while jobs were read clears the doubts it explains."""
    story = Story().submit().claim().succeed()
    story.events[0] = evolve(story.events[0], payload=None)
    later = Surroundings(LONG_AFTER)
    for event in (
        PAUSED,
        resumed(1002),
        control(Name.PAYLOAD_ERASED, "job:1", 1010),
        control(Name.JOBS_PRUNED, "jobs", 1011, data={"job_ids": [1]}),
    ):
        later.learn(event)
    reports = []
    for second in (None, later):
        checker = Checker(START - SECOND)
        checker.control(PAUSED)
        for job_event in story.events:
            checker.event(job_event)
        reports.append(checker.finish(second))
    assert broken(reports[0]) == {"I2", "I3", "I6", "I37"}
    assert reports[1].clean


def test_violations_beyond_a_bound_are_only_counted() -> None:
    """A log broken throughout does not fill the memory."""
    log = [Story(number).submit().claim().events[1] for number in range(1, 1201)]
    report = check(log, [control(Name.JOBS_PRUNED, "jobs", 1, data={"from": 1, "to": 1200})], LONG_AFTER)
    assert len(report.violations) == 1000
    assert report.counts == {"I1": 1200}


def test_clock_steps_beyond_a_bound_are_dropped() -> None:
    """A clock that jumps for ever does not fill the memory."""
    story = Story().submit()
    for _ in range(1001):
        story.claim().after(-1).release()
    report = judged(story.events, None)
    assert len(report.clock_steps) == 1000


def test_violations_can_be_read_while_the_log_is_read() -> None:
    """A monitor may stop at the first violation."""
    checker = Checker(LONG_AFTER)
    checker.event(Story().submit().claim().events[1])
    assert [v.invariant for v in checker.violations] == ["I1"]
    assert checker.clock_steps == []
