"""Random lives of schedules, the same in memory and in PostgreSQL; hypothesis chooses what happens."""

from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime, timedelta
from itertools import pairwise, takewhile
from typing import Any, TypeVar

from attrs import define
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fencepost.domain import commands as c
from fencepost.domain.backfill import Wanted
from fencepost.domain.decided import DecidedSlots
from fencepost.domain.firing import AT_ONCE, RANGES, Firing, Outcome
from fencepost.domain.job import Job
from fencepost.domain.schedule import CRON, Definition, Missed, Overlap, Schedule, fire_times
from fencepost.domain.token import Token

from .rig import USER, WORKER
from .schedules import MINUTE, asked, definition
from .stores import Stores
from .time_plane import TimePlane

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, Any]], Any]
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
NAMES = ("a", "B", "c/9")
PASSING = (timedelta(microseconds=1), SECOND, 11 * SECOND, MINUTE, 5 * MINUTE, 17 * MINUTE, 3 * HOUR)
BACK = (SECOND, 5 * MINUTE, HOUR)
ERROR = c.JobError("Broken")

which = st.sampled_from(NAMES)
definitions = st.builds(
    definition,
    st.sampled_from(["* * * * *", "*/5 * * * *", "*/7 * * * *", "every 90s"]),
    missed=st.sampled_from(Missed),
    overlap=st.sampled_from(Overlap),
    catchup_window=st.sampled_from([None, None, 10 * MINUTE]),
    pause_on_failure=st.booleans(),
    jitter=st.sampled_from([timedelta(0), MINUTE]),
    max_attempts=st.integers(1, 2),
)
backfill_fields = st.fixed_dictionaries(
    {
        "overlap": st.sampled_from([Overlap.ALLOW, Overlap.SKIP, Overlap.QUEUE_ONE]),
        "priority": st.sampled_from([None, 2]),
    }
)


@define
class Told:
    """What a definition owes: a decision about each of its fire times after a moment."""

    definition: Definition
    after: datetime


class ScheduleLife(RuleBasedStateMachine):
    """A few schedules, whoever changes and backfills them, workers, and a clock that also steps back."""

    def __init__(self, plane: TimePlane, run: Run, prove: Callable[[], Awaitable[list[str]]]) -> None:
        """Take both planes, empty, a way to wait for them, and what is to be said of the history at the end."""
        super().__init__()
        self.plane, self.run, self.prove = plane, run, prove
        self.plane.names.update(NAMES)
        self.latest = plane.clock()
        self.owed: dict[str, Told] = {}
        self.tokens: list[Token] = []

    @initialize(wanted=definitions)
    def begin(self, wanted: Definition) -> None:
        """There is one to begin with."""
        self.create("a", wanted)

    @rule(name=which, wanted=definitions)
    def create(self, name: str, wanted: Definition) -> None:
        """Create one, or try to."""
        there = name in self.owed
        self.attempt(lambda one: one.schedules.create(name, wanted, USER))
        if not there:
            self.owe(name, wanted)

    @rule(name=which, wanted=definitions, version=st.sampled_from([None, None, 1, 2]))
    def edit(self, name: str, wanted: Definition, version: int | None) -> None:
        """Define one otherwise."""
        before = self.there(name)
        self.attempt(lambda one: one.schedules.edit(name, wanted, USER, version=version))
        after = self.there(name)
        if after is not None and before is not None and after.definition.timing != before.definition.timing:
            self.check_told(name)
            self.owe(name, wanted)

    @rule(name=which, wanted=definitions, app=st.sampled_from(["one:app", "two:app"]), force=st.booleans())
    def declare(self, name: str, wanted: Definition, app: str, force: bool) -> None:
        """Let a program say what it is."""
        before = self.there(name)
        self.attempt(lambda one: one.schedules.declare(name, wanted, USER, app=app, force=force))
        after = self.there(name)
        if after is not None and (before is None or after.definition.timing != before.definition.timing):
            if before is not None:
                self.check_told(name)
            self.owe(name, wanted)

    @rule(name=which)
    def pause(self, name: str) -> None:
        """Pause one."""
        self.attempt(lambda one: one.schedules.pause(name, USER))
        self.check_told(name)

    @rule(name=which)
    def resume(self, name: str) -> None:
        """Resume one."""
        before = self.there(name)
        self.attempt(lambda one: one.schedules.resume(name, USER))
        if before is not None and before.paused_at is not None:
            self.owe(name, before.definition)

    @rule(name=which)
    def delete(self, name: str) -> None:
        """Delete one."""
        before = self.there(name)
        self.attempt(lambda one: one.schedules.delete(name, USER))
        if before is not None and before.paused_at is None:
            self.check_told(name)
        self.owed.pop(name, None)

    @rule(name=which, overlap=st.sampled_from(Overlap), request=st.integers(1, 4))
    def trigger(self, name: str, overlap: Overlap, request: int) -> None:
        """Ask for a firing, now and then again."""
        origin = asked(f"request-{request}")
        self.attempt(lambda one: one.firings.trigger(name, overlap, origin))

    @rule(name=which, minutes=st.integers(0, 40), fields=backfill_fields, request=st.integers(1, 3))
    def backfill(self, name: str, minutes: int, fields: dict[str, Any], request: int) -> None:
        """Ask for some of the past, now and then again."""
        now, origin = self.plane.clock(), asked(f"request-{request}")
        wanted = Wanted(from_at=now - minutes * MINUTE, to_at=now, **fields)
        self.attempt(lambda one: one.backfills.request(name, wanted, origin))

    @rule(limit=st.integers(1, 5))
    def advance(self, limit: int) -> None:
        """Carry a batch of a backfill out."""
        self.attempt(lambda one: one.backfills.advance(limit))

    @rule(name=which)
    def stop_backfill(self, name: str) -> None:
        """Stop the newest backfill of one."""
        found = self.run(self.plane.backfills(name))
        if found:
            self.attempt(lambda one: one.backfills.stop(found[0].backfill_id, USER))

    @rule(limit=st.integers(1, 3))
    def fire(self, limit: int) -> None:
        """Decide what is due."""
        self.attempt(lambda one: one.firings.fire(limit))

    @rule()
    def fire_all(self) -> None:
        """Decide everything that is due: then every fire time has its decision."""
        while self.attempt(lambda one: one.firings.fire(100)).full:
            pass
        for name in NAMES:
            self.check_told(name)

    @rule(limit=st.integers(1, 3))
    def release(self, limit: int) -> None:
        """Insert what waited."""
        self.attempt(lambda one: one.firings.release(limit))

    @rule(passed=st.sampled_from(PASSING))
    def wait(self, passed: timedelta) -> None:
        """Let time pass."""
        self.plane.clock.advance(passed)
        self.latest = max(self.latest, self.plane.clock())

    @rule(name=which)
    def wait_for(self, name: str) -> None:
        """Let it be exactly the next fire time."""
        schedule = self.there(name)
        if schedule is not None and schedule.next_fire_at is not None:
            self.wait(max(timedelta(0), schedule.next_fire_at - self.plane.clock()))

    @rule(back=st.sampled_from(BACK))
    def step_back(self, back: timedelta) -> None:
        """Set the clock back."""
        self.plane.clock.advance(-back)

    @rule(limit=st.integers(1, 3))
    def claim(self, limit: int) -> None:
        """Run jobs that are due."""
        self.tokens += self.run(self.plane.claim(limit))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        """End an attempt, one way or another; it may have ended long ago."""
        token = data.draw(st.sampled_from(self.tokens))
        held: dict[str, Any] = {"origin": WORKER, "token": token, "draw": 0.5}
        reports = (c.Succeed(**held), c.Discard(**held, error=ERROR), c.Fail(**held, error=ERROR))
        report = data.draw(st.sampled_from([*reports, c.ConfirmCancel(**held)]))
        self.attempt(lambda one: one.jobs.report([report]))

    @precondition(lambda self: self.tokens)
    @rule(data=st.data(), again=st.booleans())
    def operate(self, data: st.DataObject, again: bool) -> None:
        """Cancel a job, or put it back."""
        job_id = data.draw(st.sampled_from(self.tokens)).job_id
        operation = c.Requeue(origin=USER, fresh_effect_key=False) if again else c.Cancel(origin=USER)
        self.attempt(lambda one: one.jobs.operate([job_id], operation))

    @invariant()
    def both_agree(self) -> None:
        """Jobs, events, schedules and ledgers are the same, and the ledger is sound."""
        self.run(self.plane.agree())
        jobs = {job.job_id: job for job in self.run(self.plane.all_jobs())}
        for name in sorted(self.plane.names):
            check_ledger(self.run(self.plane.ledger(name)), jobs)
        assert len({job.effect_key for job in jobs.values()}) == len(jobs)

    def teardown(self) -> None:
        """Let the clock be right again; then the history must hold."""
        self.plane.clock.now = self.latest
        assert self.run(self.problems()) == []

    async def problems(self) -> list[str]:
        """What the checker says."""
        return await self.prove()

    def attempt(self, call: Callable[[Stores], Awaitable[T]]) -> Any:
        """Make one call to each; both answer alike, or refuse alike."""
        return self.run(self.plane.lockstep.attempt(call))

    def there(self, name: str) -> Schedule | None:
        """The schedule as it is now."""
        found: Schedule | None = self.run(self.plane.lockstep.both(lambda one: one.schedule_reader.get(name)))
        return found

    def owe(self, name: str, wanted: Definition) -> None:
        """From now on each fire time of a definition needs a decision, unless the schedule is paused."""
        schedule = self.there(name)
        if schedule is not None and schedule.paused_at is None:
            self.owed[name] = Told(wanted, self.plane.clock())

    def check_told(self, name: str) -> None:
        """What has been due since has its decision, unless the schedule was paused in between."""
        owed, schedule = self.owed.get(name), self.there(name)
        if owed is None or (schedule is not None and schedule.paused_at not in {None, self.plane.clock()}):
            return
        rows: list[Firing] = self.run(self.plane.ledger(name))
        decided = DecidedSlots(row for row in rows if row.origin == CRON)
        times = fire_times(owed.definition.timing, owed.after)
        due = list(takewhile(lambda moment: moment <= self.plane.clock(), times))
        assert [moment for moment in due if moment not in decided] == []


def check_ledger(rows: list[Firing], jobs: dict[int, Job]) -> None:
    """No fire time of the clock is in two rows; a job serves its row's fire time, and no other row has it."""
    ranges = [(row.fire_at, row.last) for row in rows if row.origin == CRON]
    assert all(earlier[1] < later[0] for earlier, later in pairwise(ranges))
    with_jobs = [row for row in rows if row.job_id is not None]
    assert len({row.job_id for row in with_jobs}) == len(with_jobs)
    for row in rows:
        assert row.count == 1 or row.outcome in RANGES
        assert (row.count == 1) is (row.fire_at == row.last)
        assert row.outcome is Outcome.QUEUED or (row.job_id is None) is (row.outcome not in AT_ONCE)
    assert all(jobs[row.job_id].scheduled_for == row.fire_at for row in with_jobs if row.job_id in jobs)
