"""Backfills: which fire times a range holds, and what is decided about them step by step."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from fencepost.domain.backfill import MOST_TIMES, Backfill, Ending, Wanted, decide_next, requested, size
from fencepost.domain.commands import Origin
from fencepost.domain.errors import InvalidInput
from fencepost.domain.job import Specification
from fencepost.domain.schedule import Definition, Overlap, Schedule, Slot, Timing

NOW = datetime(2030, 6, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
USER = Origin("user:test", "request-1", "lost data", "build-1")


def schedule(cron: str = "0 * * * *", **timing: Any) -> Schedule:
    """One that was created just now."""
    return Schedule(
        name="report",
        definition=Definition(
            timing=Timing(**{"cron": cron, "starts_at": NOW, **timing}), template=Specification(type="work")
        ),
        created_at=NOW,
        next_fire_at=NOW + HOUR,
    )


def wanted(hours: float = 3, **fields: Any) -> Wanted:
    """The last hours."""
    return Wanted(**{"from_at": NOW - hours * HOUR, "to_at": NOW, **fields})


def begun(hours: float = 3, of: Schedule | None = None, **fields: Any) -> Backfill:
    """A new backfill."""
    return requested("backfill:1", of or schedule(), wanted(hours, **fields), USER, NOW)


def told(
    backfill: Backfill, *, busy: bool = False, **fields: Any
) -> tuple[list[tuple[int, str, int]], Backfill]:
    """One step: the hours before now, decision and count of each row, and the backfill after it."""
    step = decide_next(backfill, evolve(schedule(), **fields), NOW, busy=busy)
    rows = [((NOW - row.fire_at) // HOUR, row.outcome.value, row.count) for row in step.firings]
    return rows, step.backfill


def test_a_range_includes_both_its_ends() -> None:
    """Four full hours lie in three hours."""
    backfill = begun(3)
    assert (backfill.total, backfill.next_at) == (4, NOW - 3 * HOUR)


def test_a_range_may_begin_before_the_schedule_does() -> None:
    """A schedule made today is backfilled for last month."""
    assert begun(30 * 24).total == 30 * 24 + 1


def test_an_interval_has_no_fire_times_before_its_anchor() -> None:
    """It is counted from there."""
    every = schedule("every 30m", starts_at=NOW - HOUR)
    assert (begun(3, every).total, begun(3, every).next_at) == (3, NOW - HOUR)


def test_nothing_fires_after_the_schedule_has_ended() -> None:
    """Not in a backfill either."""
    assert begun(3, schedule(ends_at=NOW - 2 * HOUR)).total == 2


def test_a_range_without_fire_times_has_ended_at_once() -> None:
    """There is nothing to decide."""
    backfill = begun(0.5, schedule("15 0 * * *"))
    assert (backfill.total, backfill.next_at, backfill.ending, backfill.ended_at) == (
        0,
        None,
        Ending.DONE,
        NOW,
    )


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"from_at": NOW + HOUR}, "to", "must not be earlier than from"),
        ({"to_at": NOW + timedelta(microseconds=1)}, "to", "must not be later than now"),
        ({"from_at": NOW.replace(tzinfo=None)}, "from", "must be a date and time with an offset"),
        ({"priority": 10}, "priority", "from 0 to 9"),
        ({"overlap": Overlap.CANCEL_RUNNING}, "overlap", "must be allow, skip or queue_one"),
    ],
)
def test_what_cannot_be_backfilled_is_refused(fields: dict[str, Any], field: str, rule: str) -> None:
    """With the field and the rule."""
    with pytest.raises(InvalidInput, match=rule) as refusal:
        begun(**fields)
    assert refusal.value.field == field


def test_ten_thousand_fire_times_are_the_most() -> None:
    """One more is refused, and the error says what to do."""
    timing = schedule("* * * * *").definition.timing
    most = Wanted(from_at=NOW - timedelta(minutes=MOST_TIMES - 1), to_at=NOW)
    assert size(timing, most, NOW) == MOST_TIMES
    with pytest.raises(InvalidInput, match=r"at most 10000 fire times .* ask for a shorter range"):
        size(timing, evolve(most, from_at=most.from_at - timedelta(minutes=1)), NOW)


def test_fire_times_are_decided_in_bounded_batches() -> None:
    """A hundred jobs at a time; the last batch ends it."""
    rows, backfill = told(begun(249))
    assert (len(rows), rows[0], rows[-1]) == (100, (249, "backfilled", 1), (150, "backfilled", 1))
    assert (backfill.decided, backfill.fired, backfill.next_at) == (100, 100, NOW - 149 * HOUR)
    backfill = told(told(backfill)[1])[1]
    assert (backfill.decided, backfill.fired, backfill.next_at) == (250, 250, None)
    assert (backfill.ending, backfill.ended_at) == (Ending.DONE, NOW)


def test_jobs_beside_others_wait_for_none() -> None:
    """However busy the schedule is."""
    assert len(told(begun(3), busy=True)[0]) == 4


def test_fire_times_that_meet_a_job_are_skipped() -> None:
    """All of them while one is unfinished; else the first makes a job, and the others meet that."""
    skip = begun(3, overlap=Overlap.SKIP)
    assert told(skip, busy=True)[0] == [(3, "skipped", 4)]
    rows, backfill = told(skip)
    assert rows == [(3, "backfilled", 1), (2, "skipped", 3)]
    assert (backfill.decided, backfill.fired, backfill.ending) == (4, 1, Ending.DONE)


def test_one_after_the_other_waits_until_nothing_runs() -> None:
    """Nothing is decided before, and one at a time then."""
    serial = begun(1, overlap=Overlap.QUEUE_ONE)
    assert told(serial, busy=True) == ([], serial)
    rows, backfill = told(serial)
    assert (rows, backfill.next_at, backfill.ending) == ([(1, "backfilled", 1)], NOW, None)
    rows, backfill = told(backfill)
    assert (rows, backfill.ending) == ([(0, "backfilled", 1)], Ending.DONE)


def test_a_firing_that_waits_goes_first() -> None:
    """Unless the schedule is paused: it waits for somebody then."""
    serial = begun(1, overlap=Overlap.QUEUE_ONE)
    assert told(serial, waiting=Slot(NOW))[0] == []
    assert len(told(serial, waiting=Slot(NOW), paused_at=NOW)[0]) == 1


def test_a_backfill_that_has_ended_decides_nothing() -> None:
    """Whoever asks."""
    over = evolve(begun(1), next_at=None, ending=Ending.STOPPED, ended_at=NOW)
    assert told(over) == ([], over)


def test_an_edit_moves_no_range() -> None:
    """The fire times are those of the expression that was there when it was asked for."""
    edited = schedule("30 * * * *").definition
    rows, backfill = told(begun(1), definition=edited)
    assert ([hours for hours, _, _ in rows], backfill.total) == ([1, 0], 2)
