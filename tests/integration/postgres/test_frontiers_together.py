"""Several workers' frontiers over one table: the order of claims, and that together they lose nothing."""

import asyncio
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from fencepost.domain.commands import Release
from fencepost.domain.vocabulary import Verdict
from support.frontiers import SECOND, Arena, Claimer, arena_over
from support.proof import problems_of
from support.rig import WORKER, submission, success
from support.stores import START, Clock
from support.wiping import wipe

BATCH = 3
PRIORITIES = st.integers(0, 9)


async def crowd(arena: Arena) -> list[int]:
    """Submit jobs of all kinds; return their ids in claim order."""
    jobs = []
    for number in range(24):
        priority, age = number * 7 % 10, number * 5 % 4
        run_at = arena.clock.now - age * SECOND
        jobs.append((-priority, run_at, await arena.submit(priority=priority, run_at=run_at)))
    return [job_id for _, _, job_id in sorted(jobs)]


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_claims_from_the_frontier_come_in_the_documented_order(arena: Arena, limit: int) -> None:
    """B103: priority DESC, run_at, job_id, in batches of any size; one full scan, and then none."""
    await crowd_registered(arena)
    expected = await crowd(arena)
    claimer = Claimer(arena.database)
    order: list[int] = []
    while claimed := await claimer.claim(limit):
        order += claimed
    assert order == expected


async def crowd_registered(arena: Arena) -> None:
    """Make the queue known."""
    await arena.queues.register(["default"])


async def test_two_workers_in_turn_keep_the_order(arena: Arena) -> None:
    """What one took, the other goes past, and nothing is skipped."""
    await crowd_registered(arena)
    expected = await crowd(arena)
    workers = [Claimer(arena.database) for _ in range(2)]
    order: list[int] = []
    while len(order) < len(expected):
        order += await workers[len(order) % 2].claim(BATCH)
    assert order == expected


async def test_a_higher_priority_that_comes_later_goes_first(arena: Arena) -> None:
    """A backlog on one level hides nothing above it, though the frontier is in the midst of it."""
    claimer = await arena.claimer()
    backlog = [await arena.submit(priority=4) for _ in range(6)]
    assert await claimer.claim(2) == backlog[:2]
    urgent = await arena.submit(priority=9)
    low = await arena.submit(priority=0)
    assert await claimer.claim(2) == [urgent, backlog[2]]
    assert await claimer.claim() == [*backlog[3:], low]


async def test_delayed_jobs_are_claimed_from_the_frontier_when_they_are_due(arena: Arena) -> None:
    """Their run_at is ahead of every frontier until then, and the answer says when."""
    claimer = await arena.claimer()
    ids = [await arena.submit(delay=delay * SECOND, priority=delay) for delay in (3, 1, 2)]
    for _, due in zip(range(3), (ids[1], ids[2], ids[0]), strict=True):
        assert (await claimer.ask()).next_due_in == SECOND
        arena.clock.advance(SECOND)
        assert await claimer.claim() == [due]


async def test_as_many_as_were_asked_for_leave_no_time_to_come_back(arena: Arena) -> None:
    """Whoever has free slots again claims at once, anyway."""
    claimer = await arena.claimer()
    for _ in range(BATCH):
        await arena.submit()
    await arena.submit(delay=SECOND)
    assert (await claimer.ask(BATCH)).next_due_in is None


class Fleet(RuleBasedStateMachine):
    """Submits of all kinds, transactions that commit late or not at all, and three workers with rare full scans."""

    dsn: str
    clock: Clock

    @initialize()
    def start(self) -> None:
        """An emptied database, and three workers."""
        wipe(self.dsn)
        self.runner = asyncio.Runner()
        self.clock.now = START
        self.over = arena_over(self.dsn, self.clock)
        self.arena = self.runner.run(self.over.__aenter__())
        self.runner.run(crowd_registered(self.arena))
        self.workers = [Claimer(self.arena.database) for _ in range(3)]
        self.open: list[tuple[AbstractContextManager[list[int]], list[int]]] = []
        self.accepted: set[int] = set()
        self.claims: list[int] = []
        self.released: list[int] = []

    @rule(priority=PRIORITIES, delay=st.integers(-3, 3))
    def submit(self, priority: int, delay: int) -> None:
        """Submit a job: due now, later, or long ago."""
        run_at = self.clock.now + delay * SECOND
        self.accepted.add(self.runner.run(self.arena.submit(priority=priority, run_at=run_at)))

    @rule(priorities=st.lists(PRIORITIES, min_size=1, max_size=4))
    def begin(self, priorities: list[int]) -> None:
        """Submit jobs in a transaction that stays open."""
        late = self.arena.late(*[submission(priority=priority) for priority in priorities])
        self.open.append((late, late.__enter__()))

    @rule(which=st.integers(0, 9), commits=st.booleans())
    def end(self, which: int, commits: bool) -> None:
        """Commit an open transaction, or roll it back."""
        if self.open:
            late, ids = self.open.pop(which % len(self.open))
            if commits:
                late.__exit__(None, None, None)
                self.accepted |= set(ids)
            else:
                late.__exit__(InterruptedError, InterruptedError(), None)

    @rule(passed=st.sampled_from([0.01, 0.1, 1.0]))
    def wait(self, passed: float) -> None:
        """Let the database's clock go on."""
        self.clock.advance(timedelta(seconds=passed))

    @rule(worker=st.integers(0, 2), limit=st.integers(1, 4))
    def claim(self, worker: int, limit: int) -> None:
        """Claim from a frontier; what is claimed comes in order."""
        self._took(self.runner.run(self.workers[worker].ask(limit)))

    @rule(worker=st.integers(0, 2), limit=st.integers(1, 4))
    def look_at_everything(self, worker: int, limit: int) -> None:
        """Claim by a full scan."""
        self.workers[worker].seconds.now += 1e12
        self._took(self.runner.run(self.workers[worker].ask(limit)))

    @rule(worker=st.integers(0, 2))
    def hand_back(self, worker: int) -> None:
        """Release the job claimed last: it goes back to where it was."""
        if tokens := self.workers[worker].tokens:
            report = Release(origin=WORKER, token=tokens.pop())
            verdicts = self.runner.run(self.workers[worker].store.report([report]))
            assert verdicts == [Verdict.ACCEPTED]
            self.released.append(report.token.job_id)

    @invariant()
    def nothing_is_claimed_twice(self) -> None:
        """But for what was handed back."""
        held = list(self.claims)
        for job_id in self.released:
            held.remove(job_id)
        assert len(held) == len(set(held))

    def teardown(self) -> None:
        """When quiet comes, each worker's next full scans find whatever is left: every job is held exactly once."""
        try:
            self._quiet()
        finally:
            self.runner.run(self.over.__aexit__(None, None, None))
            self.runner.close()

    def _quiet(self) -> None:
        while self.open:
            self.end(0, commits=True)
        self.clock.advance(10 * SECOND)
        worker = self.workers[len(self.claims) % 3]
        worker.seconds.now += 1e12
        while claimed := self.runner.run(worker.ask(BATCH)).jobs:
            self.claims += [job.token.job_id for job in claimed]
        self.nothing_is_claimed_twice()
        held = list(self.claims)
        for job_id in self.released:
            held.remove(job_id)
        assert sorted(held) == sorted(self.accepted)
        for one in self.workers:
            self.runner.run(one.store.report([success(token)() for token in one.tokens]))
        assert self.runner.run(problems_of(self.dsn, self.clock)) == []

    def _took(self, claimed: Any) -> None:
        ids = [job.token.job_id for job in claimed.jobs]
        assert set(ids) <= self.accepted
        self.claims += ids


def test_several_frontiers_together_lose_no_job(clocked: str, clock: Clock) -> None:
    """Whatever happened, one worker's full scan and what follows from it take all that is left, each job once."""

    class Here(Fleet):
        """On this database."""

    Here.dsn, Here.clock = clocked, clock

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=20,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
