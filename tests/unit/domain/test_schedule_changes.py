"""What people do to schedules: when they fire next, and what becomes of fire times that nobody has decided about."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from fencepost.domain import schedule_changes as changes
from fencepost.domain import schedule_facts
from fencepost.domain.errors import InvalidInput
from fencepost.domain.firing import Outcome, Reason
from fencepost.domain.job import Specification
from fencepost.domain.recurrence import Dst
from fencepost.domain.schedule import Definition, Missed, Overlap, Policies, Schedule, Timing
from fencepost.domain.scheduling import check_definition

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def definition(cron: str = "0 * * * *", **timing: object) -> Definition:
    """Every hour unless the test says otherwise."""
    return Definition(
        timing=Timing(**{"cron": cron, "starts_at": NOON - HOUR, **timing}),  # type: ignore[arg-type]  # a test's shorthand
        template=Specification(type="report"),
    )


@pytest.fixture
def schedule() -> Schedule:
    """One that was created at noon."""
    return changes.created("report", definition(), NOON)


def test_a_new_schedule_fires_after_now(schedule: Schedule) -> None:
    """Not now, although noon is a fire time: nobody knows whether it was before."""
    assert (schedule.next_fire_at, schedule.version) == (NOON + HOUR, 1)


def test_a_schedule_fires_at_its_start_if_that_is_a_fire_time() -> None:
    """And not before."""
    late = changes.created("report", definition(starts_at=NOON + 5 * HOUR), NOON)
    assert late.next_fire_at == NOON + 5 * HOUR


def test_an_interval_is_counted_from_the_start() -> None:
    """Whenever the schedule was created."""
    every = changes.created("report", definition("every 90m"), NOON)
    assert every.next_fire_at == NOON + HOUR / 2


def test_a_schedule_that_is_over_never_fires() -> None:
    """There is no next fire time."""
    assert changes.created("report", definition(ends_at=NOON), NOON).next_fire_at is None


def test_an_edit_counts_from_now_on(schedule: Schedule) -> None:
    """What was due by the old definition and is not decided is skipped, in the name of the edit."""
    change = changes.edited(schedule, definition("30 * * * *"), NOON + 2 * HOUR)
    assert change.schedule.next_fire_at == NOON + 2.5 * HOUR
    assert change.schedule.version == 2
    [skipped] = change.firings
    assert (skipped.outcome, skipped.reason, skipped.count) == (Outcome.SKIPPED, Reason.EDITED, 2)


def test_newer_rules_do_not_pass_over_what_is_due(schedule: Schedule) -> None:
    """It was a fire time when it came: the moment of looking may be later than the moment of finding it."""
    assert changes.rezoned(schedule, NOON + HOUR) == schedule
    off = evolve(schedule, next_fire_at=NOON + 1.5 * HOUR)
    assert changes.rezoned(off, NOON) == evolve(schedule, version=2)


def test_millions_of_fire_times_are_passed_over_at_once() -> None:
    """Seconds of sixty years."""
    every_second = changes.created("report", definition("every 1s"), NOON)
    [skipped] = changes.paused(every_second, None, NOON + timedelta(days=60 * 365)).firings
    assert skipped.count == 60 * 365 * 24 * 3600


def test_an_edit_in_time_skips_nothing(schedule: Schedule) -> None:
    """Nothing was due."""
    assert changes.edited(schedule, definition("30 * * * *"), NOON).firings == ()


def test_paused_time_is_not_missed_time(schedule: Schedule) -> None:
    """After thirty days the next fire time is the one after the resume."""
    paused = changes.paused(schedule, "holidays", NOON)
    assert (paused.schedule.next_fire_at, paused.schedule.pause_reason) == (None, "holidays")
    month = NOON + timedelta(days=30)
    resumed = changes.resumed(paused.schedule, month)
    assert (resumed.schedule.next_fire_at, resumed.firings) == (month + HOUR, ())
    assert resumed.schedule.paused_at is None


def test_what_was_due_when_a_pause_came_is_skipped(schedule: Schedule) -> None:
    """Nothing fires after a pause."""
    assert changes.paused(schedule, None, NOON + HOUR).firings[0].fire_at == NOON + HOUR


def test_an_edit_of_a_paused_schedule_does_not_wake_it(schedule: Schedule) -> None:
    """It takes effect with the resume."""
    paused = changes.paused(schedule, None, NOON).schedule
    assert changes.edited(paused, definition("30 * * * *"), NOON).schedule.next_fire_at is None


def test_a_resume_forgets_how_the_last_job_ended(schedule: Schedule) -> None:
    """Or a schedule that pauses on failure would do so again at once."""
    paused = evolve(changes.paused(schedule, None, NOON).schedule, last_job=7)
    assert changes.resumed(paused, NOON).schedule.last_job is None


def test_what_was_due_when_a_schedule_was_deleted_is_skipped(schedule: Schedule) -> None:
    """The ledger outlives it, and knows."""
    change = changes.deleted(schedule, NOON + HOUR)
    assert [row.reason for row in change.firings] == [Reason.EDITED]
    assert change.schedule.next_fire_at is None


@pytest.mark.parametrize(
    "one",
    [
        definition(),
        Definition(
            timing=Timing(
                cron="30 2 * * *",
                tz="Europe/Oslo",
                dst=Dst.WALL,
                starts_at=NOON,
                ends_at=NOON + timedelta(days=9),
                jitter=timedelta(seconds=30),
            ),
            template=Specification(type="report", payload='{"a":1}', queue="mail", priority=9, timeout=None),
            policies=Policies(
                missed=Missed.ALL,
                catchup_window=HOUR,
                overlap=Overlap.QUEUE_ONE,
                pause_on_failure=True,
            ),
        ),
    ],
)
def test_a_definition_survives_being_written_down(one: Definition) -> None:
    """In JSON, with the payload beside it."""
    assert schedule_facts.restore(schedule_facts.describe(one), one.template.payload) == one


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (definition("0 0 30 2 *"), "cron"),
        (definition(tz="Europe/Nowhere"), "tz"),
        (definition(starts_at=NOON.replace(tzinfo=None)), "starts_at"),
        (definition(ends_at=NOON - 2 * HOUR), "ends_at"),
        (definition(ends_at=NOON - HOUR / 2, starts_at=NOON - HOUR + timedelta(seconds=1)), "ends_at"),
        (definition(jitter=timedelta(days=2)), "jitter"),
        (definition(jitter=-HOUR), "jitter"),
        (evolve(definition(), policies=Policies(catchup_window=timedelta(0))), "catchup_window"),
        (evolve(definition(), template=Specification(type="no spaces")), "type"),
        (evolve(definition(), template=Specification(type="a", effect_key="k")), "effect_key"),
        (evolve(definition(), template=Specification(type="a", scheduled_for=NOON)), "scheduled_for"),
        (evolve(definition(), template=Specification(type="a", payload="[1]")), "payload"),
        (evolve(definition(), template=Specification(type="a", payload="{")), "payload"),
        (evolve(definition(), template=Specification(type="a", payload=None)), "payload"),
        (definition(ends_at=NOON.replace(tzinfo=None), starts_at=None), "ends_at"),
        (definition("nonsense", starts_at=None), "cron"),
        (definition(starts_at=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)), "starts_at"),
    ],
)
def test_a_definition_that_cannot_work_is_refused(bad: Definition, field: str) -> None:
    """The error names the field."""
    with pytest.raises(InvalidInput) as caught:
        check_definition(bad)
    assert caught.value.field == field


def test_a_good_definition_passes() -> None:
    """As most do."""
    check_definition(definition())


def test_a_start_left_open_is_the_creation() -> None:
    """From which an interval is counted."""
    one = changes.created("report", definition("every 90m", starts_at=None), NOON)
    assert one.definition.timing.starts_at == NOON
    assert one.next_fire_at == NOON + 1.5 * HOUR


def test_an_edit_that_leaves_the_start_open_keeps_it() -> None:
    """Or an interval would be counted from each edit."""
    one = changes.created("report", definition("every 90m", starts_at=None), NOON)
    change = changes.edited(one, definition("every 60m", starts_at=None), NOON + HOUR / 2)
    assert change.schedule.definition.timing.starts_at == NOON
    assert change.schedule.next_fire_at == NOON + HOUR


def test_a_start_left_open_says_nothing_else_than_the_one_that_is_there(schedule: Schedule) -> None:
    """A program that declares its schedules at each start need not remember when it did so first."""
    assert changes.is_defined_by(schedule, definition(starts_at=None))
    assert changes.is_defined_by(schedule, definition())
    assert not changes.is_defined_by(schedule, definition(starts_at=NOON))
    assert not changes.is_defined_by(schedule, definition("30 * * * *", starts_at=None))


def test_an_end_before_a_start_left_open_is_refused(schedule: Schedule) -> None:
    """It shows only when the start is known."""
    over = definition(starts_at=None, ends_at=NOON)
    with pytest.raises(InvalidInput, match="ends_at: must be later than now, "):
        changes.created("report", over, NOON)
    with pytest.raises(InvalidInput, match="ends_at: must be later than starts_at, "):
        changes.edited(schedule, definition(starts_at=None, ends_at=NOON - HOUR), NOON)


@pytest.mark.parametrize(
    ("missed", "overlap"),
    [(Missed.LATEST, Overlap.SKIP), (Missed.SKIP, Overlap.SKIP), (Missed.ALL, Overlap.ALLOW)],
)
def test_who_catches_up_with_all_lets_jobs_overlap_unless_told_otherwise(
    missed: Missed, overlap: Overlap
) -> None:
    """Or the first catch-up job would make the others skipped."""
    assert Policies(missed=missed).overlap is overlap
    assert Policies(missed=missed, overlap=Overlap.QUEUE_ONE).overlap is Overlap.QUEUE_ONE


def test_what_is_stored_is_canonical() -> None:
    """Definitions that mean the same are the same."""
    written = evolve(
        definition(" 0  *  * * *  "), template=Specification(type="report", payload='{ "a": [1, 2] }')
    )
    stored = check_definition(written)
    assert (stored.timing.cron, stored.template.payload) == ("0 * * * *", '{"a":[1,2]}')
    assert check_definition(stored) == stored
