"""Claims sent ahead: while the worker starts what came, the database looks for more."""

from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.application.ports.job_store import Claimed, ClaimRequest
from fencepost.domain.errors import Unavailable, UnknownOutcome
from fencepost.domain.vocabulary import State
from support.local_time import settle
from support.workshop import Workshop, forever


@pytest.fixture
def shop(shop: Workshop) -> Workshop:
    """Claims of ten, and slots for thirty jobs."""
    shop.set(batch=10, queues={"default": 30})
    return shop


async def fine(_ctx: Context) -> None:
    """Succeed."""


def seen_by_claims(shop: Workshop) -> list[int]:
    """Return what keeps how many handlers had begun when each claim was sent."""
    begun: list[int] = []
    claim = shop.store.claim

    async def noted(request: ClaimRequest) -> Claimed:
        begun.append(len(shop.started))
        return await claim(request)

    shop.store.claim = noted  # type: ignore[method-assign]
    return begun


async def test_the_next_claim_is_sent_before_the_jobs_of_the_last_begin(shop: Workshop) -> None:
    """And whatever they bring begins in its order."""
    shop.handle(forever)
    begun = seen_by_claims(shop)
    first = await shop.submit(times=30)
    await shop.start()
    assert begun[:3] == [0, 0, 10]
    assert shop.started == list(range(first, first + 30))


async def test_nothing_is_claimed_ahead_without_room_for_as_much_again(shop: Workshop) -> None:
    """Of 35 jobs, 30 have a slot: the others stay with the database."""
    shop.handle(forever)
    first = await shop.submit(times=35)
    await shop.start()
    await shop.advance(3)
    assert [shop.state(first + number) for number in (29, 30, 34)] == [
        State.RUNNING,
        State.PENDING,
        State.PENDING,
    ]
    assert len(shop.store.asked) == 3


async def test_nothing_is_claimed_ahead_by_a_worker_of_several_queues(shop: Workshop) -> None:
    """What it brought would wait for the claims of the others, with nobody to renew its leases."""
    shop.set(queues={"default": 30, "other": 1})
    shop.handle(forever)
    claim = shop.store.claim

    async def slow(request: ClaimRequest) -> Claimed:
        if request.queue == "other":
            await shop.time.sleep(3)
        return await claim(request)

    shop.store.claim = slow  # type: ignore[method-assign]
    first = await shop.submit(times=30)
    await shop.start()
    assert [shop.state(first + number) for number in (9, 10)] == [State.RUNNING, State.PENDING]
    await shop.advance(10)
    assert len(shop.started) == 30


async def test_a_claim_ahead_that_fails_takes_nothing_with_it(shop: Workshop) -> None:
    """What came before it has begun; the rest follows when the database answers again."""
    shop.handle(forever)
    claim, failures = shop.store.claim, iter([Unavailable()])

    async def failing(request: ClaimRequest) -> Claimed:
        if len(shop.store.asked) == 1 and (error := next(failures, None)):
            raise error
        return await claim(request)

    shop.store.claim = failing  # type: ignore[method-assign]
    await shop.submit(times=30)
    await shop.start()
    assert len(shop.started) == 10
    await shop.advance(1)
    assert len(shop.started) == 30


async def test_what_was_claimed_ahead_is_handed_back_by_a_stop(shop: Workshop) -> None:
    """The claim is waited for; its jobs are pending again at once."""
    shop.handle(fine)
    claim = shop.store.claim

    async def slow(request: ClaimRequest) -> Claimed:
        answer = await claim(request)
        if len(shop.store.asked) == 2:
            await shop.time.sleep(2)
        return answer

    shop.store.claim = slow  # type: ignore[method-assign]
    first = await shop.submit(times=20, lease=timedelta(seconds=60))
    await shop.start()
    shop.worker.stop()
    await shop.advance(3)
    await settle()
    assert shop.over()
    assert shop.events(first) == ["enqueued", "claimed", "succeeded"]
    assert shop.events(first + 10) == ["enqueued", "claimed", "released"]


async def test_a_lost_reply_to_a_claim_ahead_is_looked_up(shop: Workshop) -> None:
    """Its jobs begin, too."""
    shop.handle(forever)
    claim = shop.store.claim

    async def losing(request: ClaimRequest) -> Claimed:
        if len(shop.store.asked) == 1:
            shop.store.after["claim"].append(UnknownOutcome())
        return await claim(request)

    shop.store.claim = losing  # type: ignore[method-assign]
    await shop.submit(times=30)
    await shop.start()
    await shop.advance(1)
    assert len(shop.started) == 30
