"""Stopping: nothing new, a grace for what runs, the rest handed back."""

import asyncio
from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.domain.errors import UnknownOutcome
from fencepost.domain.vocabulary import State
from support.local_time import settle
from support.workshop import Workshop, forever, gate


async def test_an_idle_worker_stops_at_once(shop: Workshop) -> None:
    """No time passes, and its registration is gone."""
    shop.handle(forever)
    await shop.start()
    shop.worker.stop()
    await settle()
    assert shop.over()
    assert shop.database.listeners == {}


async def test_running_handlers_finish_and_nothing_new_is_claimed(shop: Workshop) -> None:
    """The job that was running completes; the one that waited stays pending."""
    shop.set(queues={"default": 1})
    event, wait = gate()
    shop.handle(wait)
    first = await shop.submit(times=2)
    await shop.start()
    shop.worker.stop()
    await shop.advance(20)
    assert not shop.over()
    event.set()
    await shop.advance(0)
    assert shop.over()
    assert [shop.state(first), shop.state(first + 1)] == [State.SUCCEEDED, State.PENDING]


async def test_heartbeats_go_on_while_draining(shop: Workshop) -> None:
    """B080: One start, one completion: the lease of five seconds outlives a drain of thirty."""
    shop.set(drain_grace=timedelta(seconds=60))
    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit(lease=timedelta(seconds=5))
    await shop.start()
    await shop.advance(2)
    shop.worker.stop()
    await shop.advance(28)
    lease = shop.job(job).lease_expires_at
    assert lease is not None
    assert lease > shop.time.wall()
    event.set()
    await shop.advance(0)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]


async def test_what_outlasts_the_grace_is_handed_back(shop: Workshop) -> None:
    """B201: The handler is cancelled and its job released, at no cost to its retry budget."""
    shop.handle(forever)
    job = await shop.submit()
    await shop.start()
    shop.worker.stop()
    await shop.advance(29)
    assert shop.state(job) is State.RUNNING
    await shop.advance(1.1)
    assert shop.over()
    assert shop.events(job) == ["enqueued", "claimed", "released"]
    assert (shop.state(job), shop.job(job).failures) == (State.PENDING, 0)


async def test_a_handler_that_does_not_listen_is_handed_back_all_the_same(shop: Workshop) -> None:
    """The process is about to end, and the handler with it."""
    ended = asyncio.Event()

    async def deaf(ctx: Context) -> None:
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue

    shop.handle(deaf)
    job = await shop.submit()
    await shop.start()
    shop.worker.stop()
    await shop.advance(36)
    assert shop.over()
    assert shop.events(job) == ["enqueued", "claimed", "released"]
    ended.set()


async def test_a_claim_answered_after_the_stop_is_handed_back(shop: Workshop) -> None:
    """Its jobs were granted but not started."""
    shop.handle(forever)
    shop.store.after["claim"].append(UnknownOutcome())
    job = await shop.submit()
    await shop.start()
    shop.worker.stop()
    await shop.advance(5)
    assert shop.over()
    assert shop.events(job) == ["enqueued", "claimed", "released"]
    assert shop.started == []


async def test_the_last_reports_are_delivered_before_the_end(shop: Workshop) -> None:
    """A database that is away for a moment holds the end up."""
    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit()
    await shop.start()
    shop.store.away.add("report")
    shop.worker.stop()
    event.set()
    await shop.advance(3)
    assert not shop.over()
    shop.store.away.clear()
    await shop.advance(5)
    assert shop.over()
    assert shop.state(job) is State.SUCCEEDED


async def test_a_worker_ends_even_when_the_database_does_not_come_back(shop: Workshop) -> None:
    """The leases run out by themselves."""
    event, wait = gate()
    shop.handle(wait)
    await shop.submit()
    await shop.start()
    shop.store.away.update({"report", "claim", "heartbeat"})
    shop.worker.stop()
    event.set()
    await shop.advance(100)
    assert shop.over()


async def test_a_stop_while_the_database_is_away_does_not_wait_for_it(shop: Workshop) -> None:
    """There is nothing to drain."""
    shop.handle(forever)
    shop.store.away.add("claim")
    await shop.start()
    await shop.advance(20)
    shop.worker.stop()
    await settle()
    assert shop.over()


async def test_abort_waits_for_nothing(shop: Workshop) -> None:
    """No time passes, nothing is reported: the lease will run out."""
    shop.handle(forever)
    job = await shop.submit()
    await shop.start()
    shop.worker.stop()
    await shop.advance(1)
    shop.worker.abort()
    await settle()
    assert shop.over()
    assert (shop.state(job), shop.store.reported) == (State.RUNNING, [])


async def test_a_broken_loop_drains_the_worker_and_is_raised(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is loud, but not at the cost of the jobs that run."""
    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit()
    await shop.start()

    async def broken(request: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(shop.store, "claim", broken)
    await shop.advance(1)
    event.set()
    await shop.advance(1)
    assert shop.state(job) is State.SUCCEEDED
    with pytest.raises(ZeroDivisionError):
        await shop.finish()
