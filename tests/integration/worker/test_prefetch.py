"""Jobs that a worker holds before it has slots for them: who gets one, who waits how long, who goes back."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from fencepost.application.context import Context
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.commands import Origin, Revoke
from fencepost.domain.vocabulary import State
from support.local_time import settle
from support.workshop import USER, Workshop, forever, until

SLOTS = 5
SECOND = timedelta(seconds=1)


class Doors:
    """What the jobs of a test wait for: each its own door, or all at once."""

    def __init__(self) -> None:
        """All closed."""
        self._doors: dict[int, asyncio.Event] = {}
        self._all = False

    async def wait(self, ctx: Context) -> None:
        """Wait for the job's door."""
        if not self._all:
            await self._doors.setdefault(ctx.job_id, asyncio.Event()).wait()

    async def open(self, *job_ids: int) -> None:
        """Let some jobs end, or all of them, also those that have not begun."""
        self._all = not job_ids
        for job_id in job_ids or self._doors:
            self._doors.setdefault(job_id, asyncio.Event()).set()
        await settle()


async def fine(_ctx: Context) -> None:
    """Succeed."""


@pytest.fixture
def doors() -> Doors:
    """What jobs of type ``slow`` wait for."""
    return Doors()


@pytest_asyncio.fixture
async def quick(shop: Workshop, doors: Doors) -> AsyncIterator[Workshop]:
    """A worker with five slots that has measured quick handlers, and knows ``slow`` ones as well."""
    shop.handle(doors.wait, type="slow")
    await warm_up(shop)
    yield shop


async def warm_up(shop: Workshop) -> None:
    """Start the worker and let it measure quick handlers."""
    shop.handle(fine)
    await shop.submit(times=20)
    await shop.start()
    await shop.advance(0.1)
    assert len(shop.started) == 20
    shop.started.clear()


async def crowd(shop: Workshop, times: int = 30, **specification: object) -> list[int]:
    """Submit slow jobs at once and let the worker take what it will."""
    first = await shop.submit(times=times, type="slow", **specification)
    await shop.advance(0)
    return list(range(first, first + times))


def states(shop: Workshop, jobs: list[int]) -> list[State]:
    """The states of jobs."""
    return [shop.state(job) for job in jobs]


async def test_nothing_is_held_before_anything_was_measured(shop: Workshop) -> None:
    """A new worker claims for its free slots and no more: the first handlers may run for an hour."""
    shop.handle(forever)
    jobs = await shop.submit(times=30)
    await shop.start()
    await shop.advance(60)
    assert states(shop, list(range(jobs, jobs + 30))).count(State.RUNNING) == SLOTS


async def test_behind_quick_handlers_jobs_wait_with_their_leases_and_begin_in_claim_order(
    quick: Workshop, doors: Doors
) -> None:
    """All thirty are claimed at once, five run; as each ends the next begins, without another claim."""
    jobs = await crowd(quick)
    assert states(quick, jobs) == [State.RUNNING] * 30
    assert (quick.started, quick.worker.running) == (jobs[:SLOTS], SLOTS)
    claims = len(quick.store.calls["claim"])
    await doors.open(jobs[1])
    assert quick.started == jobs[: SLOTS + 1]
    await doors.open(jobs[0], jobs[3])
    assert quick.started == jobs[: SLOTS + 3]
    await doors.open()
    assert quick.started == jobs
    assert states(quick, jobs) == [State.SUCCEEDED] * 30
    assert all(request.limit > SLOTS for request in quick.store.asked[claims:])


async def test_a_higher_priority_comes_first_among_those_claimed_together(
    quick: Workshop, doors: Doors
) -> None:
    """They begin in the order of the claim, not in that of their ids."""
    await quick.queues.pause("default", USER)
    low = await crowd(quick, 10, priority=1)
    high = await crowd(quick, 10, priority=8)
    await quick.queues.resume("default", USER)
    await quick.advance(0)
    await doors.open()
    assert quick.started == [*high, *low]


async def test_waiting_jobs_keep_their_leases(quick: Workshop) -> None:
    """A heartbeat renews them with those that run."""
    await crowd(quick, 1, lease=SECOND)
    waiting = await crowd(quick, 20)
    await quick.advance(0.5)
    assert {token.job_id for token in quick.store.beaten[-1]} >= set(waiting)


async def test_what_waits_longer_than_a_tenth_of_its_lease_goes_back_to_whoever_has_slots(
    quick: Workshop,
) -> None:
    """The handlers were quick and now take an hour: after three seconds of thirty the others are pending again."""
    jobs = await crowd(quick)
    await quick.advance(2.9)
    assert states(quick, jobs) == [State.RUNNING] * 30
    await quick.advance(0.2)
    assert states(quick, jobs) == [State.RUNNING] * SLOTS + [State.PENDING] * 25
    assert {tuple(quick.events(job)) for job in jobs[SLOTS:]} == {("enqueued", "claimed", "released")}
    assert {quick.last(job).started_at for job in jobs[SLOTS:]} == {None}
    other = ClaimRequest(
        queue="default", types=frozenset({"slow"}), limit=99, claim_id="c", origin=Origin("worker:other")
    )
    assert len((await quick.store.claim(other)).jobs) == 25


async def test_a_job_goes_back_once_and_not_again_and_again(quick: Workshop, doors: Doors) -> None:
    """Each return counts towards the cap of a thousand: while its slots stand still a worker takes nothing more."""
    jobs = await crowd(quick)
    await quick.advance(3_000)
    assert {quick.job(job).idle_returns for job in jobs[SLOTS:]} == {1}
    await doors.open()
    await quick.advance(1)
    assert states(quick, jobs) == [State.SUCCEEDED] * 30
    assert {quick.job(job).attempt for job in jobs[SLOTS:]} == {2}


async def test_slots_that_move_again_let_jobs_wait_again(quick: Workshop, doors: Doors) -> None:
    """Handlers that began after the return and were quick are reason enough."""
    await crowd(quick)
    await quick.advance(10)
    await doors.open()
    await quick.submit(times=200)
    await quick.advance(1)
    doors._all = False
    jobs = await crowd(quick)
    assert states(quick, jobs) == [State.RUNNING] * 30


async def test_handlers_that_take_long_let_nobody_wait(shop: Workshop) -> None:
    """At a second each, five slots get through less than one job in a moment."""

    async def second(_ctx: Context) -> None:
        await shop.time.sleep(1)

    shop.handle(second)
    first = await shop.submit(times=40)
    await shop.start()
    for _ in range(30):
        held = [shop.state(job) for job in range(first, first + 40)].count(State.RUNNING)
        assert held <= SLOTS
        await shop.advance(0.3)
    assert {shop.events(job)[-1] for job in range(first, first + 40)} == {"succeeded"}


async def test_short_leases_go_back_before_long_ones_that_wait_before_them(quick: Workshop) -> None:
    """A tenth of one second is over long before a tenth of thirty."""
    await quick.queues.pause("default", USER)
    long, short = await crowd(quick, 10), await crowd(quick, 10, lease=SECOND)
    await quick.queues.resume("default", USER)
    await quick.advance(0.15)
    assert states(quick, long) == [State.RUNNING] * 10
    assert states(quick, short) == [State.PENDING] * 10


async def test_a_claim_that_takes_too_long_for_the_lease_brings_only_what_can_begin(quick: Workshop) -> None:
    """A tenth of the lease is over when its answer comes: who would wait could only go back."""
    quick.store.pace = 0.06
    jobs = await crowd(quick, 40, lease=SECOND)
    await quick.advance(60)
    returned = [quick.job(job).idle_returns for job in jobs]
    assert max(returned) <= 1


async def test_handlers_that_block_one_another_let_few_wait(shop: Workshop) -> None:
    """Each holds the loop for 20 ms: five slots get through five jobs in a tenth of a second, not through 25."""

    async def block(_ctx: Context) -> None:
        shop.moved.pass_by(0.02)

    shop.handle(block)
    jobs = await shop.submit(times=300, lease=SECOND)
    await shop.start()
    await shop.advance(30)
    returns = [shop.job(job).idle_returns for job in range(jobs, jobs + 300)]
    assert {shop.state(job) for job in range(jobs, jobs + 300)} == {State.SUCCEEDED}
    assert (max(returns), sum(returns)) <= (1, 30)


async def test_a_stop_hands_back_all_that_waits_and_lets_the_others_finish(
    quick: Workshop, doors: Doors
) -> None:
    """At once, and a slot that becomes free is left so."""
    jobs = await crowd(quick)
    quick.worker.stop()
    await settle()
    assert states(quick, jobs) == [State.RUNNING] * SLOTS + [State.PENDING] * 25
    await doors.open()
    assert quick.over()
    assert quick.started == jobs[:SLOTS]
    assert {quick.job(job).failures for job in jobs} == {0}


async def test_an_abort_begins_nothing_more(quick: Workshop) -> None:
    """The handlers that it cancels leave slots that nobody gets; the leases run out."""
    jobs = await crowd(quick)
    reported = len(quick.store.reported)
    quick.worker.abort()
    await quick.advance(1)
    assert quick.over()
    assert quick.started == jobs[:SLOTS]
    assert len(quick.store.reported) == reported


async def test_a_pause_brings_back_what_waits(quick: Workshop, doors: Doors) -> None:
    """It wakes the worker, whose next claim hears of it: no time passes, and nothing more of the queue begins."""
    jobs = await crowd(quick)
    await quick.queues.pause("default", USER)
    await quick.advance(0)
    assert states(quick, jobs) == [State.RUNNING] * SLOTS + [State.PENDING] * 25
    await doors.open()
    await quick.advance(1)
    assert quick.started == jobs[:SLOTS]
    await quick.queues.resume("default", USER)
    await quick.advance(0)
    assert states(quick, jobs) == [State.SUCCEEDED] * 30


async def test_a_worker_without_room_hears_of_a_pause_with_its_next_slot(
    shop: Workshop, doors: Doors
) -> None:
    """It holds as much as it may, so it asks for nothing: one more job begins, the others go back."""
    shop.set(max_unreported=20)
    shop.handle(doors.wait, type="slow")
    await warm_up(shop)
    jobs = await crowd(shop, 20)
    jobs += await crowd(shop, 20)
    held = states(shop, jobs).count(State.RUNNING)
    await shop.queues.pause("default", USER)
    await shop.advance(0)
    assert states(shop, jobs).count(State.RUNNING) == held == 25
    await doors.open(jobs[0])
    await shop.advance(0.01)
    assert states(shop, jobs[: SLOTS + 1]) == [State.SUCCEEDED] + [State.RUNNING] * SLOTS
    assert states(shop, jobs[SLOTS + 1 :]) == [State.PENDING] * (40 - SLOTS - 1)


async def test_a_worker_without_room_whose_slots_stand_still_keeps_nothing_for_long(
    shop: Workshop, doors: Doors
) -> None:
    """Nobody asks, so nobody hears of the pause: a tenth of the lease bounds it all the same."""
    shop.set(max_unreported=20)
    shop.handle(doors.wait, type="slow")
    await warm_up(shop)
    jobs = [*(await crowd(shop, 20)), *(await crowd(shop, 20))]
    await shop.queues.pause("default", USER)
    await shop.advance(3.1)
    assert states(shop, jobs[SLOTS:]) == [State.PENDING] * 35
    assert shop.started == jobs[:SLOTS]


async def test_a_cancelled_job_that_waits_never_begins(quick: Workshop, doors: Doors) -> None:
    """The request comes with a heartbeat; the slot that it gets confirms it, and the next job begins."""
    runner, *jobs = [*(await crowd(quick, 1, lease=SECOND)), *(await crowd(quick))]
    await quick.cancel(jobs[SLOTS - 1])
    await quick.advance(0.5)
    await doors.open(runner)
    assert quick.state(jobs[SLOTS - 1]) is State.CANCELLED
    assert quick.started == [runner, *jobs[: SLOTS - 1], jobs[SLOTS]]


async def test_a_cancelled_job_that_goes_back_is_cancelled(quick: Workshop) -> None:
    """A return after a cancel request is the end."""
    jobs = await crowd(quick)
    await quick.cancel(jobs[-1])
    await quick.advance(3.1)
    assert quick.events(jobs[-1]) == ["enqueued", "claimed", "cancel_requested", "released"]
    assert quick.state(jobs[-1]) is State.CANCELLED


async def test_a_job_that_waits_and_has_lost_its_lease_never_begins(quick: Workshop, doors: Doors) -> None:
    """An operator took it back: neither its handler nor a report of this attempt follows."""
    runner, *jobs = [*(await crowd(quick, 1, lease=SECOND)), *(await crowd(quick))]
    await quick.store.operate([jobs[SLOTS - 1]], Revoke(origin=USER, cancel=True))
    await quick.advance(0.5)
    await doors.open()
    assert jobs[SLOTS - 1] not in quick.started
    assert quick.events(jobs[SLOTS - 1]) == ["enqueued", "claimed", "revoked"]
    assert [control.name for control in quick.database.control_events] == []
    assert states(quick, [runner, *jobs]).count(State.SUCCEEDED) == 30


async def test_results_without_a_verdict_and_jobs_that_wait_share_one_bound(shop: Workshop) -> None:
    """While reports cannot be delivered no more is held than can be remembered, beside what runs."""
    shop.set(max_unreported=20)
    await warm_up(shop)
    shop.store.away.add("report")
    first = await shop.submit(times=200)
    await shop.advance(10)
    held = [shop.state(job) for job in range(first, first + 200)].count(State.RUNNING)
    assert SLOTS < held <= 20 + SLOTS
    shop.store.away.clear()
    await shop.advance(10)
    assert {shop.state(job) for job in range(first, first + 200)} == {State.SUCCEEDED}


async def test_a_claim_too_large_for_the_database_is_halved_also_for_those_who_wait(quick: Workshop) -> None:
    """All jobs run, each by one claim."""
    quick.store.capacity = 10
    first = await quick.submit(times=200)
    await quick.advance(200)
    jobs = list(range(first, first + 200))
    assert states(quick, jobs) == [State.SUCCEEDED] * 200
    assert {quick.job(job).attempt for job in jobs} == {1}


async def test_a_handler_that_cannot_even_be_started_leaves_its_slot_to_the_next(
    quick: Workshop, doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread is left for five jobs in a row, as many as there are slots: the others begin all the same."""
    jobs = await crowd(quick, max_attempts=1)
    executor = quick.worker._execution._executors["async"]
    start, bad = executor.start, set(jobs[SLOTS : 2 * SLOTS])

    def scarce(work: object) -> object:
        if work.job.token.job_id in bad:  # type: ignore[attr-defined]
            raise RuntimeError("can't start new thread")
        return start(work)  # type: ignore[arg-type]

    monkeypatch.setattr(type(executor), "start", lambda _self, work: scarce(work))
    await doors.open()
    assert {job for job in jobs if quick.state(job) is State.DEAD} == bad
    assert states(quick, jobs).count(State.SUCCEEDED) == 25


async def test_threads_are_waited_for_like_coroutines(shop: Workshop) -> None:
    """Quick functions let jobs wait; one that then does not return sends them back after a tenth of the lease."""
    release, began = threading.Event(), list[int]()

    def work(ctx: Context, stuck: bool = False) -> None:
        if stuck:
            began.append(ctx.job_id)
            release.wait(10)

    shop.handle(work, executor="thread")
    first = await shop.submit(times=60)
    await shop.start()
    async with asyncio.timeout(10):
        while shop.state(first + 59) is not State.SUCCEEDED:
            await shop.advance(0)
            await asyncio.sleep(0.001)  # the threads' turn
    jobs = await shop.submit(times=30, payload='{"stuck":true}')
    await shop.advance(0)
    stuck = list(range(jobs, jobs + 30))
    assert states(shop, stuck) == [State.RUNNING] * 30
    await shop.advance(3.1)
    assert states(shop, stuck) == [State.RUNNING] * SLOTS + [State.PENDING] * 25
    await until(lambda: len(began) == SLOTS)
    release.set()
    await until(lambda: states(shop, stuck[:SLOTS]) == [State.SUCCEEDED] * SLOTS)
    assert sorted(began[:SLOTS]) == stuck[:SLOTS]
    shop.threads.close()
