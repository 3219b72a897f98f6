"""What is decided about fire times: each of them once, with a reason."""

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.decided import DecidedSlots
from fencepost.domain.firing import (
    ALL_TIMES,
    BATCH_FIRED,
    BATCH_TIMES,
    Decided,
    Firing,
    Outcome,
    Reason,
    decide_asked,
    decide_due,
    due_at,
    passed_over,
)
from fencepost.domain.job import Specification
from fencepost.domain.schedule import Definition, Missed, Overlap, Policies, Schedule, Slot, Timing

MIDNIGHT = datetime(2030, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def schedule(cron: str = "*/5 * * * *", *, next_fire_at: datetime = MIDNIGHT, **fields: object) -> Schedule:
    """A schedule whose first fire time without a decision is midnight; fields are its policies', or its own."""
    own = {name: fields.pop(name) for name in ("waiting", "ends_at", "jitter") if name in fields}
    timing = Timing(
        cron=cron,
        starts_at=MIDNIGHT - timedelta(days=1),
        **{name: own.pop(name) for name in ("ends_at", "jitter") if name in own},  # type: ignore[arg-type]  # a test's shorthand
    )
    return Schedule(
        name="report",
        definition=Definition(
            timing=timing,
            template=Specification(type="report"),
            policies=Policies(**fields),  # type: ignore[arg-type]  # as above
        ),
        created_at=timing.start,
        next_fire_at=next_fire_at,
        **own,  # type: ignore[arg-type]  # as above
    )


def decided(one: Schedule, now: datetime, *, busy: bool = False) -> Decided:
    """The decision about what is due by now."""
    return decide_due(one, now, busy=busy)


def told(one: Decided) -> list[tuple[datetime, Outcome, Reason, int]]:
    """Its rows of the ledger."""
    return [(row.fire_at, row.outcome, row.reason, row.count) for row in one.firings]


def test_nothing_is_decided_before_its_time() -> None:
    """A microsecond early is too early."""
    one = decided(schedule(), MIDNIGHT - timedelta(microseconds=1))
    assert (one.firings, one.next_fire_at) == ((), MIDNIGHT)


def test_a_fire_time_that_is_due_fires_and_the_next_follows_from_it() -> None:
    """Computed from the fire time, not from now."""
    one = decided(schedule(), MIDNIGHT + timedelta(seconds=9))
    assert told(one) == [(MIDNIGHT, Outcome.FIRED, Reason.DUE, 1)]
    assert one.next_fire_at == MIDNIGHT + 5 * MINUTE


def test_ten_seconds_late_is_on_time_and_more_is_missed() -> None:
    """With ``skip`` the difference shows."""
    one = schedule(missed=Missed.SKIP)
    assert told(decided(one, MIDNIGHT + timedelta(seconds=10))) == [(MIDNIGHT, Outcome.FIRED, Reason.DUE, 1)]
    assert told(decided(one, MIDNIGHT + timedelta(seconds=10, microseconds=1))) == [
        (MIDNIGHT, Outcome.SKIPPED, Reason.MISSED, 1)
    ]


SIX_HOURS_LATER = MIDNIGHT + timedelta(hours=6) - MINUTE
"""After 72 fire times."""


def test_latest_catches_up_with_the_newest_one_alone() -> None:
    """The others are coalesced, in one row."""
    one = decided(schedule(), SIX_HOURS_LATER)
    newest = MIDNIGHT + timedelta(hours=5, minutes=55)
    assert told(one) == [
        (MIDNIGHT, Outcome.COALESCED, Reason.MISSED, 71),
        (newest, Outcome.FIRED, Reason.MISSED, 1),
    ]
    assert one.firings[0].last == newest - 5 * MINUTE
    assert one.next_fire_at == newest + 5 * MINUTE


def test_one_on_time_stands_for_those_that_were_missed() -> None:
    """There is one catch-up firing, and not one beside it."""
    one = decided(schedule(), MIDNIGHT + 10 * MINUTE)
    assert told(one) == [
        (MIDNIGHT, Outcome.COALESCED, Reason.MISSED, 2),
        (MIDNIGHT + 10 * MINUTE, Outcome.FIRED, Reason.DUE, 1),
    ]


def test_skip_records_how_many_were_missed() -> None:
    """None fires; one row has them all."""
    one = decided(schedule(missed=Missed.SKIP), SIX_HOURS_LATER)
    assert told(one) == [(MIDNIGHT, Outcome.SKIPPED, Reason.MISSED, 72)]


def test_all_fires_each_of_them_in_order() -> None:
    """As far as overlapping is allowed."""
    one = decided(schedule(missed=Missed.ALL, overlap=Overlap.ALLOW), SIX_HOURS_LATER)
    assert told(one) == [
        (MIDNIGHT + 5 * number * MINUTE, Outcome.FIRED, Reason.MISSED, 1) for number in range(72)
    ]


def test_one_decision_fires_no_more_than_a_batch() -> None:
    """The rest is due still."""
    one = decided(schedule("* * * * *", missed=Missed.ALL, overlap=Overlap.ALLOW), MIDNIGHT + 1_000 * MINUTE)
    assert len(one.firings) == BATCH_FIRED
    assert one.next_fire_at == MIDNIGHT + BATCH_FIRED * MINUTE


def test_one_decision_goes_through_no_more_fire_times_than_a_batch() -> None:
    """The newest of them is not the newest of all, so it does not fire."""
    one = decided(schedule("* * * * *"), MIDNIGHT + timedelta(days=30))
    assert told(one) == [(MIDNIGHT, Outcome.COALESCED, Reason.MISSED, BATCH_TIMES)]
    assert one.next_fire_at == MIDNIGHT + BATCH_TIMES * MINUTE


@pytest.mark.parametrize(("among", "fired"), [(1, BATCH_FIRED), (7, BATCH_FIRED // 7), (100, 1), (1_000, 1)])
def test_schedules_that_share_a_transaction_share_its_batch(among: int, fired: int) -> None:
    """Each fires once at least, so that all get on."""
    one = schedule("* * * * *", missed=Missed.ALL, overlap=Overlap.ALLOW)
    assert len(decide_due(one, MIDNIGHT + 1_000 * MINUTE, busy=False, among=among).firings) == fired


def test_schedules_that_share_a_transaction_share_its_time() -> None:
    """Fire times that make no job are many."""
    one = schedule("* * * * *", missed=Missed.SKIP)
    [row] = decide_due(one, MIDNIGHT + timedelta(days=30), busy=False, among=100).firings
    assert row.count == ALL_TIMES // 100


def test_what_is_older_than_the_catchup_window_is_skipped() -> None:
    """Whatever the policy for missed ones."""
    one = decided(
        schedule(missed=Missed.ALL, overlap=Overlap.ALLOW, catchup_window=timedelta(minutes=12)),
        MIDNIGHT + 20 * MINUTE,
    )
    assert told(one)[0] == (MIDNIGHT, Outcome.SKIPPED, Reason.WINDOW, 2)
    assert [row.outcome for row in one.firings[1:]] == [Outcome.FIRED] * 3


def test_the_end_of_a_schedule_is_its_last_fire_time() -> None:
    """After it there is none."""
    one = decided(schedule(ends_at=MIDNIGHT + 4 * MINUTE), MIDNIGHT)
    assert told(one) == [(MIDNIGHT, Outcome.FIRED, Reason.DUE, 1)]
    assert one.next_fire_at is None


@pytest.mark.parametrize(
    ("overlap", "outcome", "reason", "cancel"),
    [
        (Overlap.ALLOW, Outcome.FIRED, Reason.DUE, False),
        (Overlap.SKIP, Outcome.SKIPPED, Reason.OVERLAP, False),
        (Overlap.QUEUE_ONE, Outcome.QUEUED, Reason.DUE, False),
        (Overlap.CANCEL_RUNNING, Outcome.QUEUED, Reason.DUE, True),
    ],
)
def test_an_unfinished_job_is_met_as_the_overlap_policy_says(
    overlap: Overlap, outcome: Outcome, reason: Reason, cancel: bool
) -> None:
    """Who is queued waits for it; who cancels asks it to stop."""
    one = decided(schedule(overlap=overlap), MIDNIGHT, busy=True)
    assert told(one) == [(MIDNIGHT, outcome, reason, 1)]
    waiting = Slot(MIDNIGHT, cancels=cancel) if outcome is Outcome.QUEUED else None
    assert (one.waiting, one.cancel) == (waiting, cancel)


def test_what_was_decided_before_the_clock_stepped_back_is_left_alone() -> None:
    """It parts the row of those around it; the newest stands for what was missed."""
    rows = [
        Firing(fire_at=MIDNIGHT + 2 * MINUTE, outcome=Outcome.FIRED, reason=Reason.DUE),
        Firing(
            fire_at=MIDNIGHT + 4 * MINUTE,
            until=MIDNIGHT + 5 * MINUTE,
            count=2,
            outcome=Outcome.SKIPPED,
            reason=Reason.MISSED,
        ),
    ]
    one = decide_due(
        schedule("* * * * *", missed=Missed.LATEST),
        MIDNIGHT + 5 * MINUTE,
        busy=False,
        decided=DecidedSlots(rows),
    )
    assert told(one) == [
        (MIDNIGHT, Outcome.COALESCED, Reason.MISSED, 2),
        (MIDNIGHT + 3 * MINUTE, Outcome.COALESCED, Reason.MISSED, 1),
    ]
    assert one.next_fire_at == MIDNIGHT + 6 * MINUTE


def test_a_range_encloses_no_other_decision() -> None:
    """Though that is about a fire time of an older expression: each row is found by where the one before it begins."""
    seven = Firing(fire_at=MIDNIGHT + 7 * MINUTE, outcome=Outcome.FIRED, reason=Reason.DUE)
    skipping = schedule(missed=Missed.SKIP)
    late = MIDNIGHT + 12 * MINUTE
    for rows in (
        decide_due(skipping, late, busy=False, decided=DecidedSlots([seven])).firings,
        passed_over(skipping, late, DecidedSlots([seven])),
    ):
        assert [(row.fire_at, row.count) for row in rows] == [(MIDNIGHT, 2), (MIDNIGHT + 10 * MINUTE, 1)]


@pytest.mark.parametrize("overlap", [Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING])
def test_only_one_waits(overlap: Overlap) -> None:
    """The next one is skipped, and does not cancel again."""
    one = decided(
        schedule(overlap=overlap, next_fire_at=MIDNIGHT + 5 * MINUTE, waiting=Slot(MIDNIGHT)),
        MIDNIGHT + 5 * MINUTE,
        busy=True,
    )
    assert told(one) == [(MIDNIGHT + 5 * MINUTE, Outcome.SKIPPED, Reason.OVERLAP, 1)]
    assert (one.waiting, one.cancel) == (Slot(MIDNIGHT), False)


def test_several_in_one_decision_overlap_with_each_other() -> None:
    """The first fires, the second waits for it, the third is too many."""
    one = decided(schedule(missed=Missed.ALL, overlap=Overlap.QUEUE_ONE), MIDNIGHT + 14 * MINUTE)
    assert [row.outcome for row in one.firings] == [Outcome.FIRED, Outcome.QUEUED, Outcome.SKIPPED]


def test_an_operation_fires_by_its_own_overlap_policy() -> None:
    """The clock's next fire time stays what it was."""
    slot = Slot(MIDNIGHT - MINUTE, "trigger:1")
    allowed = decide_asked(schedule(), slot, Overlap.ALLOW, busy=True)
    assert allowed.firings == (
        Firing(fire_at=slot.fire_at, origin="trigger:1", outcome=Outcome.FIRED, reason=Reason.ASKED),
    )
    assert allowed.next_fire_at == MIDNIGHT
    queued = decide_asked(schedule(), slot, Overlap.QUEUE_ONE, busy=True)
    assert (queued.firings[0].outcome, queued.waiting) == (Outcome.QUEUED, slot)


def test_what_an_edit_came_before_is_skipped_in_one_row() -> None:
    """However many they are."""
    assert passed_over(schedule(), MIDNIGHT - MINUTE) == ()
    [row] = passed_over(schedule("* * * * *"), MIDNIGHT + timedelta(days=7))
    assert (row.outcome, row.reason, row.count) == (Outcome.SKIPPED, Reason.EDITED, 7 * 24 * 60 + 1)
    assert (row.fire_at, row.last) == (MIDNIGHT, MIDNIGHT + timedelta(days=7))


def test_jitter_is_the_same_wherever_it_is_computed_and_within_its_bound() -> None:
    """Another fire time or another schedule has another."""
    timing = schedule(jitter=timedelta(minutes=3)).definition.timing
    moments = [MIDNIGHT + 5 * number * MINUTE for number in range(200)]
    waits = [due_at("report", timing, moment) - moment for moment in moments]
    assert waits == [due_at("report", timing, moment) - moment for moment in moments]
    assert all(timedelta(0) <= wait < timedelta(minutes=3) for wait in waits)
    assert len(set(waits)) == len(waits)
    assert waits != [due_at("other", timing, moment) - moment for moment in moments]


def test_without_jitter_a_job_is_due_at_its_fire_time() -> None:
    """To the microsecond."""
    assert due_at("report", schedule().definition.timing, MIDNIGHT) == MIDNIGHT
