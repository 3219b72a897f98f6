"""A database that is too slow for whole batches: work goes on in smaller pieces."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.application.worker.portion import Portion
from fencepost.domain.vocabulary import State
from support.workshop import Workshop, gate


async def fine(_ctx: Context) -> None:
    """Succeed."""


async def crowd(shop: Workshop, call: Callable[[Context], Awaitable[object]]) -> list[int]:
    """Submit 40 jobs to a worker that could run them all at once, with leases of 20 s."""
    shop.set(queues={"default": 64})
    shop.handle(call)
    first = await shop.submit(times=40, lease=timedelta(seconds=20))
    return list(range(first, first + 40))


async def test_claims_that_take_too_long_ask_for_less(shop: Workshop) -> None:
    """All jobs run, each by one claim, though no claim for all free slots would ever be answered."""
    jobs = await crowd(shop, fine)
    shop.store.capacity = 10
    await shop.start()
    await shop.advance(90)
    assert {shop.state(job) for job in jobs} == {State.SUCCEEDED}
    assert {tuple(shop.events(job)) for job in jobs} == {("enqueued", "claimed", "succeeded")}


async def test_claims_that_outlast_the_leases_they_grant_ask_for_less(shop: Workshop) -> None:
    """A job that arrives when its lease is over is handed back, and would be for ever."""
    jobs = await crowd(shop, fine)
    shop.store.pace = 0.6
    await shop.start()
    await shop.advance(60)
    assert {shop.state(job) for job in jobs} == {State.SUCCEEDED}
    assert max(shop.events(job).count("claimed") for job in jobs) <= 2


async def test_reports_that_take_too_long_are_sent_in_pieces(shop: Workshop) -> None:
    """What was computed is stored, though the batch it came in never would be."""
    event, wait = gate()
    jobs = await crowd(shop, wait)
    await shop.start()
    shop.store.capacity = 10
    event.set()
    await shop.advance(50)
    assert {shop.state(job) for job in jobs} == {State.SUCCEEDED}


async def test_heartbeats_that_take_too_long_are_sent_in_pieces(shop: Workshop) -> None:
    """Leases are kept, though one heartbeat for all of them would never be answered."""
    event, wait = gate()
    jobs = await crowd(shop, wait)
    await shop.start()
    shop.store.capacity = 20
    await shop.advance(60)
    assert all(shop.job(job).heartbeats > 1 for job in jobs)
    event.set()
    shop.store.capacity = 1_000
    await shop.advance(1)
    assert {shop.state(job) for job in jobs} == {State.SUCCEEDED}


@pytest.mark.parametrize("asked", [1, 2, 500])
def test_a_portion_shrinks_at_once_and_grows_slowly(asked: int) -> None:
    """Half of what was too much; back to the whole only by and by, and never beyond."""
    portion = Portion(500)
    assert portion.too_much(asked) is (asked > 1)
    assert portion.now == max(1, asked // 2)
    for _ in range(100):
        before = portion.now
        portion.done(portion.now)
        assert before <= portion.now <= min(500, 2 * before)
    assert portion.now == 500


def test_what_was_little_anyhow_says_nothing_about_more() -> None:
    """Only a full portion done in time lets it grow."""
    portion = Portion(500)
    portion.too_much(100)
    portion.done(49)
    assert portion.now == 50
