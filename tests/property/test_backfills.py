"""Backfills, whatever happens between their steps: each fire time is decided once, in order, and then it is over."""

from datetime import UTC, datetime, timedelta

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.backfill import Backfill, Ending, Wanted, decide_next, requested, times_between
from fencepost.domain.commands import Origin
from fencepost.domain.firing import Firing, Outcome
from fencepost.domain.job import Specification
from fencepost.domain.schedule import Definition, Overlap, Schedule, Slot, Timing

NOW = datetime(2030, 6, 1, tzinfo=UTC)
USER = Origin("user:test", "request-1")
EXPRESSIONS = ("* * * * *", "*/7 * * * *", "0 */5 * * *", "30 2 * * *", "every 11m")

AROUND = st.timedeltas(timedelta(days=-500), timedelta(days=100)).map(lambda passed: NOW + passed)

wanted = st.builds(
    lambda length, before, overlap: Wanted(
        from_at=NOW - before - length, to_at=NOW - before, overlap=overlap
    ),
    st.timedeltas(timedelta(0), timedelta(hours=20)),
    st.timedeltas(timedelta(0), timedelta(days=400)),
    st.sampled_from([Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE_ONE]),
)
timings = st.builds(
    Timing,
    cron=st.sampled_from(EXPRESSIONS),
    tz=st.sampled_from(["UTC", "Europe/Oslo", "Australia/Lord_Howe"]),
    starts_at=AROUND,
    ends_at=st.none() | AROUND,
)


def schedule(timing: Timing) -> Schedule:
    """One of this timing."""
    return Schedule(
        name="report",
        definition=Definition(timing=timing, template=Specification(type="work")),
        created_at=NOW,
        next_fire_at=None,
    )


def times_of(firing: Firing, timing: Timing) -> list[datetime]:
    """All fire times that a row of the ledger is about."""
    found = list(times_between(timing, firing.fire_at, firing.last))
    assert len(found) == firing.count
    return found


@given(timings, wanted, st.lists(st.booleans(), max_size=30), st.integers(1, 40))
def test_each_fire_time_of_a_range_is_decided_once(
    timing: Timing, asked: Wanted, busy: list[bool], most: int
) -> None:
    """In order, no more jobs at a time than asked for, and no step changes nothing but by waiting."""
    one = schedule(timing)
    backfill = requested("backfill:1", one, asked, USER, NOW)
    expected = list(times_between(timing, asked.from_at, asked.to_at))
    assert all(asked.from_at <= moment <= asked.to_at for moment in expected)
    decided: list[datetime] = []
    jobs = 0
    while backfill.next_at is not None:
        occupied = busy.pop() if busy else False
        step = decide_next(backfill, one, NOW, busy=occupied, most=most)
        made = [row for row in step.firings if row.outcome is Outcome.BACKFILLED]
        assert len(made) <= most
        if occupied and asked.overlap is not Overlap.ALLOW:
            assert made == []
        if step.backfill == backfill:
            assert (occupied, asked.overlap, step.firings) == (True, Overlap.QUEUE_ONE, ())
        jobs += len(made)
        decided += [moment for row in step.firings for moment in times_of(row, timing)]
        backfill = step.backfill
        assert (backfill.decided, backfill.fired) == (len(decided), jobs)
    assert (decided, backfill.total, backfill.ending) == (expected, len(expected), Ending.DONE)


@given(timings, wanted, st.booleans(), st.booleans(), st.booleans())
def test_a_step_depends_on_nothing_but_its_arguments(
    timing: Timing, asked: Wanted, busy: bool, waits: bool, paused: bool
) -> None:
    """So that a scheduler which is killed before its commit is repeated by the next one."""
    one = evolve(schedule(timing), waiting=Slot(NOW) if waits else None, paused_at=NOW if paused else None)
    backfill: Backfill = requested("backfill:1", one, asked, USER, NOW)
    assert decide_next(backfill, one, NOW, busy=busy) == decide_next(backfill, one, NOW, busy=busy)
