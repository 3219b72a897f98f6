"""Decisions about fire times, for all policies and all clocks: each fire time gets exactly one."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.domain.decided import DecidedSlots
from fencepost.domain.firing import (
    BATCH_FIRED,
    BATCH_TIMES,
    RANGES,
    Firing,
    Outcome,
    Reason,
    decide_asked,
    decide_due,
    due_at,
    passed_over,
)
from fencepost.domain.job import Specification
from fencepost.domain.schedule import (
    MISSED_AFTER,
    Definition,
    Missed,
    Overlap,
    Policies,
    Schedule,
    Slot,
    Timing,
    fire_times,
    first_fire_time,
)

BORN = datetime(2025, 10, 25, 22, 0, 30, tzinfo=UTC)
"""Two hours before Europe turns its clocks back."""
MINUTE = timedelta(minutes=1)
EXPRESSIONS = ("* * * * *", "*/5 * * * *", "30 2 * * *", "0 */3 * * *", "every 7m", "every 1s", "@daily")
WINDOWS = (None, MISSED_AFTER, timedelta(minutes=20), timedelta(hours=5))

policies = st.builds(
    Policies,
    missed=st.sampled_from(Missed),
    overlap=st.sampled_from(Overlap),
    catchup_window=st.sampled_from(WINDOWS),
)
passing = st.one_of(
    st.integers(0, 90_000_000).map(lambda number: timedelta(microseconds=number)),
    st.integers(0, 6_000).map(lambda number: timedelta(seconds=number)),
    st.integers(0, 120).map(lambda number: timedelta(hours=number)),
)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """A schedule that was created just now; somebody may have triggered it so that one waits."""
    start = draw(st.sampled_from([BORN - timedelta(days=30), BORN + timedelta(hours=1)]))
    timing = Timing(
        cron=draw(st.sampled_from(EXPRESSIONS)),
        tz=draw(st.sampled_from(["UTC", "Europe/Berlin"])),
        starts_at=start,
        ends_at=draw(st.sampled_from([None, BORN + timedelta(days=2)])),
        jitter=draw(st.sampled_from([timedelta(0), 3 * MINUTE])),
    )
    definition = Definition(timing=timing, policies=draw(policies), template=Specification(type="t"))
    return Schedule(
        name="report",
        definition=definition,
        created_at=BORN,
        next_fire_at=first_fire_time(timing, BORN),
        waiting=draw(st.sampled_from([None, Slot(BORN, "trigger:1")])),
    )


def nominal(schedule: Schedule, until: datetime) -> list[datetime]:
    """The fire times from its next one on."""
    if schedule.next_fire_at is None:
        return []
    times = fire_times(schedule.definition.timing, schedule.next_fire_at - timedelta(microseconds=1))
    return list(takewhile(lambda moment: moment <= until, times))


def check_coverage(rows: Iterable[Firing], moments: list[datetime]) -> None:
    """Each moment is in exactly one row, and each row counts its own."""
    left = iter(moments)
    for row in rows:
        own = list(islice(left, row.count))
        assert own
        assert (own[0], own[-1], len(own)) == (row.fire_at, row.last, row.count)
        assert row.count == 1 or row.outcome in RANGES
        assert (row.until is None) is (row.count == 1)
    assert list(left) == []


def exhausted(schedule: Schedule, now: datetime, *, busy: bool) -> tuple[Schedule, list[Firing]]:
    """Decide until nothing is due, each time within bounds; a job that fires is unfinished from then on."""
    rows: list[Firing] = []
    while True:
        decided = decide_due(schedule, now, busy=busy)
        counted = Counter({row.outcome: 0 for row in decided.firings})
        for row in decided.firings:
            counted[row.outcome] += row.count
        assert counted[Outcome.FIRED] <= BATCH_FIRED
        assert counted.total() <= BATCH_TIMES
        assert decided.leaves_due(now) is bool(
            nominal(evolve(schedule, next_fire_at=decided.next_fire_at), now)
        )
        rows += decided.firings
        busy = busy or bool(counted[Outcome.FIRED])
        schedule = evolve(schedule, next_fire_at=decided.next_fire_at, waiting=decided.waiting)
        if not decided.leaves_due(now):
            return schedule, rows


@settings(max_examples=150)
@given(schedules(), passing, st.booleans())
def test_each_fire_time_gets_exactly_one_decision(schedule: Schedule, passed: timedelta, busy: bool) -> None:
    """Whatever the policies and however long nobody looked; nothing else is decided, and nothing twice."""
    now = BORN + min(passed, timedelta(hours=3)) if "1s" in schedule.definition.timing.cron else BORN + passed
    due = nominal(schedule, now)
    after, rows = exhausted(schedule, now, busy=busy)
    check_coverage(rows, due)
    assert after.next_fire_at == first_fire_time(schedule.definition.timing, max(now, BORN))
    assert decide_due(after, now, busy=busy).firings == ()


@settings(max_examples=100)
@given(schedules(), st.lists(st.integers(-90, 120), min_size=1, max_size=8), st.booleans())
def test_a_clock_that_steps_moves_fire_times_forward_only(
    schedule: Schedule, steps: list[int], busy: bool
) -> None:
    """Each is decided once, by the first look that comes late enough."""
    now, latest, rows = BORN, BORN, list[Firing]()
    due_from = schedule
    for step in steps:
        now += step * MINUTE
        before = schedule.next_fire_at
        schedule, more = exhausted(schedule, now, busy=busy)
        rows += more
        latest = max(latest, now)
        assert before is None or schedule.next_fire_at is None or before <= schedule.next_fire_at
    check_coverage(rows, nominal(due_from, latest))


@settings(max_examples=150)
@given(schedules(), passing, st.booleans())
def test_decisions_follow_the_policies(schedule: Schedule, passed: timedelta, busy: bool) -> None:
    """Too old is skipped, missed is met as the policy says, and nobody fires beside an unfinished job uninvited."""
    now = BORN + min(passed, timedelta(hours=2))
    chosen, waited = schedule.definition.policies, schedule.waiting
    decided = decide_due(schedule, now, busy=busy)
    outcomes = Counter(row.outcome for row in decided.firings)
    for row in decided.firings:
        for moment in (row.fire_at, row.last):
            late = now - moment
            old = chosen.catchup_window is not None and late > chosen.catchup_window
            assert (row.reason is Reason.WINDOW) is old
            assert row.reason is not Reason.MISSED or late > MISSED_AFTER
            assert row.reason is not Reason.DUE or late <= MISSED_AFTER
    missed = [row for row in decided.firings if row.reason is Reason.MISSED and row.outcome not in RANGES]
    assert chosen.missed is not Missed.SKIP or missed == []
    assert chosen.missed is not Missed.LATEST or len(missed) <= 1
    assert chosen.missed is Missed.LATEST or outcomes[Outcome.COALESCED] == 0
    if chosen.overlap is not Overlap.ALLOW:
        assert outcomes[Outcome.FIRED] <= (0 if busy or waited else 1)
    waits = chosen.overlap in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}
    assert outcomes[Outcome.QUEUED] <= (1 if waits and waited is None else 0)
    assert decided.cancel is (outcomes[Outcome.QUEUED] == 1 and chosen.overlap is Overlap.CANCEL_RUNNING)
    assert (decided.waiting == waited) is (outcomes[Outcome.QUEUED] == 0)


@settings(max_examples=100)
@given(schedules(), st.integers(0, 600), st.sets(st.integers(0, 60)), st.booleans())
def test_what_the_ledger_knows_is_not_decided_again(
    schedule: Schedule, passed: int, known: set[int], busy: bool
) -> None:
    """The rest is, each once, and no row reaches over a fire time that it is not about."""
    now = BORN + min(passed, 20 if "1s" in schedule.definition.timing.cron else 600) * MINUTE
    due = nominal(schedule, now)
    told = [moment for number, moment in enumerate(due) if number in known]
    already = DecidedSlots(
        Firing(fire_at=moment, outcome=Outcome.FIRED, reason=Reason.DUE) for moment in reversed(told)
    )
    undecided = [moment for moment in due if moment not in told]
    for rows in (
        decide_due(schedule, now, busy=busy, decided=already).firings,
        passed_over(schedule, now, already),
    ):
        if sum(row.outcome is Outcome.FIRED for row in rows) < BATCH_FIRED:
            check_coverage(rows, undecided)
        assert not any(row.fire_at <= moment <= row.last for row in rows for moment in told)


@given(schedules(), st.integers(0, 600))
def test_what_an_edit_passes_over_is_the_same_counted_or_walked(schedule: Schedule, passed: int) -> None:
    """Of an interval it is computed at once: a year may have 31 million fire times."""
    now = BORN + min(passed, 20 if "1s" in schedule.definition.timing.cron else 600) * MINUTE
    far = Firing(fire_at=BORN + timedelta(days=999), outcome=Outcome.FIRED, reason=Reason.DUE)
    assert passed_over(schedule, now) == passed_over(schedule, now, DecidedSlots([far]))


@given(schedules(), st.sampled_from(Overlap), st.booleans(), st.booleans())
def test_an_operation_gets_one_decision(
    schedule: Schedule, overlap: Overlap, busy: bool, cancels: bool
) -> None:
    """By its own overlap policy, and the clock's fire times are left alone."""
    if schedule.waiting is not None:
        schedule = evolve(schedule, waiting=evolve(schedule.waiting, cancels=cancels))
    slot = Slot(BORN + MINUTE, "trigger:2")
    decided = decide_asked(schedule, slot, overlap, busy=busy)
    [row] = decided.firings
    assert (row.fire_at, row.origin, row.count) == (slot.fire_at, slot.origin, 1)
    assert decided.next_fire_at == schedule.next_fire_at
    free = not busy and schedule.waiting is None
    assert (row.outcome is Outcome.FIRED) is (overlap is Overlap.ALLOW or free)
    assert row.outcome is Outcome.QUEUED or decided.waiting == schedule.waiting
    assert decided.cancel is (row.outcome is Outcome.QUEUED and overlap is Overlap.CANCEL_RUNNING)


@given(st.text(min_size=1), st.datetimes(timezones=st.just(UTC)), st.integers(0, 86_400_000_000))
def test_jitter_is_within_its_bound_and_always_the_same(name: str, fire_at: datetime, most: int) -> None:
    """It depends on the schedule's name and the fire time alone."""
    jitter = timedelta(microseconds=most)
    timing = Timing(cron="@daily", starts_at=BORN, jitter=jitter)
    if fire_at.year == 9999:
        return
    due = due_at(name, timing, fire_at)
    assert fire_at <= due <= fire_at + jitter
    assert due < fire_at + jitter or not jitter
    assert due == due_at(name, evolve(timing, cron="@hourly"), fire_at)
