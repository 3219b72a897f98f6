"""When a worker claims, how it waits, and what it does while the database is away."""

import logging
from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.application.handlers import Retry
from fencepost.domain.errors import Unavailable, UnknownOutcome
from fencepost.domain.vocabulary import State
from support.workshop import USER, Workshop, gate


async def fine(_ctx: Context) -> None:
    """Succeed."""


async def test_a_job_submitted_while_the_worker_waits_starts_at_once(shop: Workshop) -> None:
    """The wake-up makes the fallback poll unnecessary: no time passes."""
    shop.handle(fine)
    await shop.start()
    job = await shop.submit()
    await shop.advance(0)
    assert shop.state(job) is State.SUCCEEDED


@pytest.mark.parametrize(("jobs", "claims"), [(1, 1), (2, 2)])
async def test_an_idle_worker_claims_once_for_a_single_job(shop: Workshop, jobs: int, claims: int) -> None:
    """It took all there was, and wake-ups tell what comes. Where jobs come in plenty, another may well find more."""
    shop.handle(fine)
    await shop.start()
    before = len(shop.store.calls["claim"])
    await shop.submit(times=jobs)
    await shop.advance(0)
    assert len(shop.store.calls["claim"]) - before == claims


async def test_the_idle_flag_is_committed_before_the_last_claim(shop: Workshop) -> None:
    """A job submitted just before the flag is seen by one more claim, so no wake-up is needed for it."""
    shop.handle(fine)
    shop.store.away.add("claim")
    await shop.start()
    shop.store.away.clear()
    raised = shop.wakeups.set_idle
    seen: list[int] = []

    async def set_idle(idle: bool) -> None:
        seen.append(await shop.submit())
        await raised(idle)

    shop.wakeups.set_idle = set_idle  # type: ignore[method-assign]
    await shop.advance(0.5)
    assert [shop.state(job) for job in seen] == [State.SUCCEEDED] * len(seen)
    assert seen


async def test_a_stream_of_small_claims_is_gathered(shop: Workshop) -> None:
    """Jobs are claimed one by one at first; a worker that finds another each time waits a moment."""

    async def chain(_ctx: Context) -> None:
        if len(shop.started) < 50:
            await shop.submit()

    shop.handle(chain)
    await shop.start()
    await shop.submit()
    await shop.advance(0)
    assert 0 < len(shop.started) < 10
    await shop.advance(1)
    assert len(shop.started) == 50


async def test_a_lost_wake_up_costs_one_poll(shop: Workshop) -> None:
    """Work that nobody was told about starts with the fallback poll, a second later."""
    shop.handle(fine)
    await shop.start()
    shop.database.listeners.clear()
    job = await shop.submit()
    await shop.advance(0.9)
    assert shop.state(job) is State.PENDING
    await shop.advance(0.2)
    assert shop.state(job) is State.SUCCEEDED


async def test_a_delayed_job_starts_when_it_is_due_and_not_with_the_next_poll(shop: Workshop) -> None:
    """The claim says how long until the next job is due; the worker sleeps exactly so long."""
    shop.handle(fine)
    await shop.submit(delay=timedelta(seconds=0.3))
    job = await shop.submit(delay=timedelta(seconds=0.25))
    await shop.start()
    await shop.advance(0.24)
    assert shop.state(job) is State.PENDING
    await shop.advance(0.02)
    assert shop.state(job) is State.SUCCEEDED


async def test_a_retry_starts_when_it_is_due_and_not_with_the_next_poll(shop: Workshop) -> None:
    """A worker that hands a job back learns when it will be due, and sleeps no longer."""

    async def flaky(ctx: Context) -> None:
        if ctx.failures == 0:
            raise Retry("300ms")

    shop.handle(flaky)
    await shop.start()
    job = await shop.submit()
    await shop.advance(0.1)
    assert shop.state(job) is State.PENDING
    await shop.advance(0.25)
    assert shop.state(job) is State.SUCCEEDED


async def test_waiting_costs_one_claim_a_second(shop: Workshop) -> None:
    """An idle worker polls, and does nothing else."""
    shop.handle(fine)
    await shop.start()
    before = len(shop.store.calls["claim"])
    await shop.advance(10)
    assert len(shop.store.calls["claim"]) - before == 10


async def test_a_full_worker_does_not_claim(shop: Workshop) -> None:
    """Without a free slot there is nothing to ask for."""
    shop.set(queues={"default": 1})
    _, wait = gate()
    shop.handle(wait)
    await shop.submit(times=2)
    await shop.start()
    before = len(shop.store.calls["claim"])
    await shop.advance(10)
    assert len(shop.store.calls["claim"]) == before


async def test_a_busy_worker_takes_its_idle_flag_down(shop: Workshop) -> None:
    """Submitters need not notify a worker whose slots are full."""
    shop.set(queues={"default": 1})
    event, wait = gate()
    shop.handle(wait)
    shop.handle(fine, type="fine")
    await shop.start()

    def idle() -> bool:
        return all(listener.idle for listener in shop.database.listeners.values())

    assert idle()
    await shop.submit(type="fine", times=5)
    await shop.submit()
    await shop.advance(0.5)
    assert not idle()
    event.set()
    await shop.advance(1)
    assert idle()


async def test_a_lost_reply_to_a_claim_is_looked_up_and_run(shop: Workshop) -> None:
    """The job was claimed although the reply was lost: it runs, in the attempt that was granted."""
    shop.handle(fine)
    shop.store.after["claim"].append(UnknownOutcome())
    job = await shop.submit()
    await shop.start()
    await shop.advance(1)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]


async def test_after_a_lost_reply_the_worker_learns_what_is_due_next(shop: Workshop) -> None:
    """The claim knew it and nobody heard it: another one follows at once, not with the next poll."""
    shop.handle(fine)
    await shop.start()
    shop.store.after["claim"].append(UnknownOutcome())
    later = await shop.submit(delay=timedelta(seconds=0.5))
    await shop.submit()
    await shop.advance(0.6)
    assert shop.state(later) is State.SUCCEEDED


async def test_a_claim_that_becomes_known_too_late_is_released(shop: Workshop) -> None:
    """When the lease has run out on the worker's own clock, counted from the sending, the handler never starts."""
    shop.handle(fine)
    shop.store.after["claim"].append(UnknownOutcome())
    shop.store.away.add("claimed_by")
    job = await shop.submit(lease=timedelta(seconds=3))
    await shop.start()
    await shop.advance(4)
    shop.store.away.clear()
    await shop.advance(5)
    assert shop.events(job)[:3] == ["enqueued", "claimed", "released"]
    assert shop.database.job_events[job][2].started_at is None


async def test_a_database_that_is_away_is_tried_less_than_five_times_a_second(shop: Workshop) -> None:
    """B202: The worker neither dies nor hammers, and goes on within seconds of the database's return."""
    shop.handle(fine)
    await shop.start()
    shop.store.away.update({"claim", "report", "heartbeat"})
    await shop.advance(30)
    tries = sum(len([t for t in calls if t > 0]) for calls in shop.store.calls.values())
    assert 5 < tries < 30
    assert not shop.worker.in_contact
    shop.store.away.clear()
    job = await shop.submit()
    await shop.advance(5)
    assert shop.state(job) is State.SUCCEEDED
    assert shop.worker.in_contact


async def test_a_worker_started_while_the_database_is_away_waits_for_it(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registering queues is tried until it works."""
    shop.handle(fine)
    register, tries = shop.queues.register, []

    async def refuse(names: object) -> None:
        tries.append(shop.time.monotonic())
        raise Unavailable("not yet")

    monkeypatch.setattr(shop.queues, "register", refuse)
    job = await shop.submit()
    await shop.start()
    await shop.advance(20)
    monkeypatch.setattr(shop.queues, "register", register)
    await shop.advance(5)
    assert shop.state(job) is State.SUCCEEDED
    assert 3 < len(tries) < 30


async def test_no_new_starts_above_the_bound_of_unreported_results(shop: Workshop) -> None:
    """While reports cannot be delivered, finished jobs pile up only so far: what was running when it was reached."""
    shop.set(max_unreported=3)
    shop.handle(fine)
    shop.store.away.add("report")
    first = await shop.submit(times=10)
    await shop.start()
    await shop.advance(5)
    assert [shop.state(job) for job in range(first, first + 10)].count(State.RUNNING) == 5
    shop.store.away.clear()
    await shop.advance(5)
    assert {shop.state(job) for job in range(first, first + 10)} == {State.SUCCEEDED}


async def test_a_paused_queue_is_left_alone(shop: Workshop) -> None:
    """Nothing of it starts until it is resumed; jobs that run go on."""
    event, wait = gate()
    shop.handle(wait)
    shop.set(queues={"default": 1})
    first = await shop.submit(times=2)
    await shop.start()
    await shop.queues.pause("default", USER)
    event.set()
    await shop.advance(5)
    assert [shop.state(first), shop.state(first + 1)] == [State.SUCCEEDED, State.PENDING]
    await shop.queues.resume("default", USER)
    await shop.advance(1)
    assert shop.state(first + 1) is State.SUCCEEDED


async def test_an_outage_is_logged_once(shop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    """A log full of the same line helps nobody."""
    shop.handle(fine)
    await shop.start()
    shop.store.away.add("claim")
    with caplog.at_level(logging.WARNING):
        await shop.advance(30)
    assert [record.getMessage() for record in caplog.records] == [
        "database out of reach, trying again: cut off"
    ]


async def test_a_claim_that_commits_after_it_was_looked_up_is_found(shop: Workshop) -> None:
    """The server was still busy with it: a second look, five seconds later, finds its job."""
    shop.handle(fine)
    shop.store.before["claim"].append(UnknownOutcome())
    await shop.queues.pause("default", USER)
    job = await shop.submit()
    await shop.start()
    await shop.advance(1)
    await shop.queues.resume("default", USER)
    await shop.store.commit_late(shop.store.asked[0])
    await shop.advance(1)
    assert shop.state(job) is State.RUNNING
    await shop.advance(7)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]
