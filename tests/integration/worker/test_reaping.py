"""The reaper: lapsed leases end, in batches, and not right after an outage."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from fencepost.application.ports.job_store import ClaimRequest
from fencepost.application.reaping import Reaper
from fencepost.domain.errors import TooSlow, Unavailable, UnknownOutcome
from fencepost.domain.vocabulary import State
from support.local_time import settle
from support.workshop import USER, Workshop


class Database:
    """Whether the database answers."""

    away = False

    async def contact(self) -> None:
        """Answer, or not."""
        if self.away:
            raise Unavailable("away")


@pytest.fixture
def database() -> Database:
    """A database that answers."""
    return Database()


@pytest_asyncio.fixture
async def reaper(shop: Workshop, database: Database) -> AsyncIterator[Reaper]:
    """A reaper, running."""
    reaper = Reaper(shop.store, database.contact, shop.time, lambda: 0.5)
    running = asyncio.ensure_future(reaper.run())
    await settle()
    yield reaper
    reaper.stop()
    await settle()
    assert running.done()


async def claim(shop: Workshop, times: int, lease: timedelta = timedelta(seconds=5)) -> int:
    """Claim jobs for a worker that will not be heard of again."""
    await shop.queues.register(["default"])
    first = await shop.submit(times=times, lease=lease)
    types = frozenset({"work"})
    await shop.store.claim(
        ClaimRequest(queue="default", types=types, limit=times, claim_id="lost", origin=USER)
    )
    return first


async def test_a_lapsed_lease_is_expired_within_one_period(shop: Workshop, reaper: Reaper) -> None:
    """Lease and two seconds after the worker died, the job is pending again."""
    job = await claim(shop, 1)
    await shop.advance(5)
    assert shop.state(job) is State.RUNNING
    await shop.advance(2)
    assert shop.events(job)[-1] == "lease_expired"


async def test_many_lapsed_leases_are_expired_in_batches_without_waiting(
    shop: Workshop, reaper: Reaper
) -> None:
    """250 are three batches of one round."""
    first = await claim(shop, 250)
    await shop.advance(7)
    assert {shop.state(job) for job in range(first, first + 250)} == {State.PENDING}
    rounds = [moment for moment in shop.store.calls["reap"] if moment >= 5]
    assert len(rounds) == 3


async def test_locked_rows_do_not_hide_the_others(shop: Workshop, reaper: Reaper) -> None:
    """B089: 150 locked rows in front, ten free ones behind them."""
    first = await claim(shop, 160)
    with shop.database.locked(*range(first, first + 150)):
        await shop.advance(9)
        assert {shop.state(job) for job in range(first + 150, first + 160)} == {State.PENDING}


async def test_long_searches_take_a_twentieth_of_the_time(shop: Workshop, reaper: Reaper) -> None:
    """While a pinned horizon makes each take half a second, there is one every ten; then every two again."""
    shop.store.search = 0.5
    await shop.advance(43)
    assert shop.store.calls["reap"] == [0, 2, 12, 22, 32, 42]
    shop.store.search = 0.0
    await shop.advance(14)
    assert shop.store.calls["reap"][6:] == [52, 54, 56]


async def test_long_searches_put_an_expiry_off_by_no_more_than_twenty_of_them(
    shop: Workshop, reaper: Reaper
) -> None:
    """A lease that lapsed right after one search is ended by the next."""
    shop.store.search = 0.5
    job = await claim(shop, 1)
    await shop.advance(2.5 + 9.4)
    assert shop.state(job) is State.RUNNING
    await shop.advance(0.2)
    assert shop.events(job)[-1] == "lease_expired"
    await shop.advance(0.5)


async def test_batches_that_find_much_are_no_reason_to_rest(shop: Workshop, reaper: Reaper) -> None:
    """Only the last search of a round counts: the others did something."""
    shop.store.search = 0.1
    first = await claim(shop, 250)
    await shop.advance(9)
    assert {shop.state(job) for job in range(first, first + 250)} == {State.PENDING}
    rounds = [moment for moment in shop.store.calls["reap"] if moment >= 5]
    assert len(rounds) == 4


async def test_a_search_that_took_too_long_is_tried_again_for_fewer_jobs(
    shop: Workshop, reaper: Reaper
) -> None:
    """It is no outage, so nothing is held back: 120 lapsed leases end in batches of 50 and a little more."""
    first = await claim(shop, 120)
    shop.store.before["reap"].append(TooSlow())
    await shop.advance(7)
    assert {shop.state(job) for job in range(first, first + 120)} == {State.PENDING}
    rounds = [moment for moment in shop.store.calls["reap"] if moment >= 5]
    assert len(rounds) == 3


@pytest.mark.parametrize("error", [Unavailable(), UnknownOutcome()])
async def test_after_an_outage_workers_get_one_lease_to_come_back(
    shop: Workshop, reaper: Reaper, database: Database, error: Exception
) -> None:
    """Nothing is reaped for thirty seconds after contact: an outage must not burn everybody's budget."""
    job = await claim(shop, 1, timedelta(seconds=30))
    shop.store.before["reap"].append(error)
    database.away = True
    await shop.advance(60)
    assert shop.job(job).failures == 0
    assert not reaper.in_contact
    database.away = False
    await shop.advance(25)
    assert shop.state(job) is State.RUNNING
    await shop.advance(12)
    assert shop.events(job)[-1] == "lease_expired"


async def test_a_reaper_that_starts_at_the_end_of_an_outage_holds_back_as_well(
    shop: Workshop, database: Database
) -> None:
    """Nor is anything reaped for thirty seconds by one that was started while the database was away."""
    job = await claim(shop, 1)
    await shop.advance(60)
    reaper = Reaper(shop.store, database.contact, shop.time, lambda: 0.5)
    running = asyncio.ensure_future(reaper.run(after_outage=True))
    await shop.advance(29)
    assert shop.state(job) is State.RUNNING
    await shop.advance(2)
    assert shop.events(job)[-1] == "lease_expired"
    reaper.stop()
    await running


async def test_an_outage_is_probed_gently(shop: Workshop, reaper: Reaper, database: Database) -> None:
    """The database is not hammered while it is away."""
    tries = []

    async def contact() -> None:
        tries.append(shop.time.monotonic())
        raise Unavailable

    reaper._contact = contact
    shop.store.before["reap"].append(Unavailable())
    await shop.advance(60)
    assert 10 < len(tries) < 30
