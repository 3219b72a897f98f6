"""Heartbeats, cancel requests, and what happens at the end of a lease."""

import asyncio
import logging
from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.domain.commands import Revoke
from fencepost.domain.errors import InvalidInput
from fencepost.domain.vocabulary import State
from support.workshop import USER, Workshop, forever, gate

FIVE = timedelta(seconds=5)


async def test_a_long_job_keeps_its_lease(shop: Workshop) -> None:
    """B092: A minute with a lease of five seconds: one attempt, at least twenty renewals, none of them an event."""
    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit(lease=FIVE)
    await shop.start()
    await shop.advance(60)
    event.set()
    await shop.advance(0)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]
    assert (shop.last(job).heartbeats or 0) >= 20


async def test_all_held_leases_are_renewed_in_one_call_at_the_pace_of_the_shortest(shop: Workshop) -> None:
    """Leases of 3 s and 30 s: one call a second, for both."""
    shop.handle(forever)
    long, short = await shop.submit(), await shop.submit(lease=timedelta(seconds=3))
    await shop.start()
    await shop.advance(10.5)
    assert len(shop.store.beaten) == 10
    assert [{token.job_id for token in beat} for beat in shop.store.beaten] == [{long, short}] * 10


async def test_a_shorter_lease_that_comes_later_speeds_the_heartbeat_up(shop: Workshop) -> None:
    """It does not have to wait for the slow beat of the first one."""
    shop.handle(forever)
    await shop.submit()
    await shop.start()
    await shop.advance(1)
    job = await shop.submit(lease=timedelta(seconds=1))
    await shop.advance(20)
    lease = shop.job(job).lease_expires_at
    assert lease is not None
    assert lease > shop.time.wall()


def test_a_heartbeat_longer_than_a_third_of_the_lease_is_refused() -> None:
    """B081: The configuration names the field and the rule."""
    shop = Workshop()
    with pytest.raises(InvalidInput, match="heartbeat: must be above 0 and at most a third of the lease"):
        shop.set(lease=timedelta(seconds=3), heartbeat=timedelta(seconds=3))
    shop.set(lease=timedelta(seconds=3), heartbeat=timedelta(seconds=1))


async def test_a_configured_heartbeat_is_kept(shop: Workshop) -> None:
    """Two seconds instead of the ten that the lease would allow."""
    shop.set(heartbeat=timedelta(seconds=2))
    shop.handle(forever)
    await shop.submit()
    await shop.start()
    await shop.advance(20.5)
    assert len(shop.store.beaten) == 10


async def test_an_idle_worker_sends_no_heartbeats(shop: Workshop) -> None:
    """There is nothing to renew."""
    shop.handle(forever)
    await shop.start()
    await shop.advance(60)
    assert shop.store.beaten == []


async def test_a_cancel_request_stops_the_handler(shop: Workshop) -> None:
    """It arrives with the next heartbeat, and the job is cancelled."""
    shop.handle(forever)
    job = await shop.submit()
    await shop.start()
    await shop.cancel(job)
    await shop.advance(10)
    assert shop.events(job) == ["enqueued", "claimed", "cancel_requested", "cancelled"]


async def test_a_handler_may_finish_in_spite_of_a_cancel_request(shop: Workshop) -> None:
    """The work is done: the job has succeeded."""

    async def stubborn(ctx: Context) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done all the same"
        return "not reached"

    shop.handle(stubborn)
    job = await shop.submit()
    await shop.start()
    await shop.cancel(job)
    await shop.advance(10)
    assert shop.events(job)[-2:] == ["cancel_requested", "succeeded"]


async def test_a_failure_after_a_cancel_request_is_told_as_such(shop: Workshop) -> None:
    """An exception other than the cancellation is a failure; the job is cancelled by the rules."""

    async def clumsy(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("while cleaning up")

    shop.handle(clumsy)
    job = await shop.submit()
    await shop.start()
    await shop.cancel(job)
    await shop.advance(10)
    assert (shop.events(job)[-1], shop.state(job)) == ("failed", State.CANCELLED)


async def test_contact_lost_cancels_the_handler_at_the_local_end_of_the_lease(shop: Workshop) -> None:
    """B084: Counted from when the last acknowledged renewal was sent: at 10 s, so the lease of 30 s ends at 40 s."""
    shop.handle(forever)
    job = await shop.submit()
    await shop.start()
    await shop.advance(10.5)
    shop.store.away.update({"heartbeat", "report", "claim"})
    await shop.advance(29)
    assert not shop.store.reported
    await shop.advance(0.6)
    assert [report.name for report in shop.store.reported[0]] == ["release"]
    assert shop.job(job).attempt == 1
    shop.store.away.clear()
    await shop.advance(5)
    assert "released" in shop.events(job)


async def test_a_result_computed_before_contact_was_lost_is_still_offered(shop: Workshop) -> None:
    """The token decides, not the clock: nobody has reaped it, so it is accepted after the lease's end."""
    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit()
    await shop.start()
    shop.store.away.update({"heartbeat", "report"})
    event.set()
    await shop.advance(60)
    shop.store.away.clear()
    await shop.advance(5)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]


async def test_a_lost_lease_stops_the_handler_and_its_job_is_dropped(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """An operator revoked it: the next heartbeat says so, and attempt 2 is another matter."""
    shop.set(queues={"default": 1})
    shop.handle(forever)
    job = await shop.submit()
    await shop.start()
    await shop.store.operate([job], Revoke(origin=USER))
    with caplog.at_level(logging.WARNING):
        await shop.advance(10)
    assert shop.store.reported == []
    assert "lease lost" in caplog.text
    await shop.advance(1)
    assert (shop.job(job).attempt, shop.state(job)) == (2, State.RUNNING)


async def test_a_late_result_is_refused_and_logged(shop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    """B083: The handler finished before it could hear that the lease was lost: fencing leaves its evidence."""
    event, wait = gate()
    shop.handle(wait)
    shop.set(queues={"default": 1})
    job = await shop.submit()
    await shop.start()
    await shop.store.operate([job], Revoke(origin=USER, cancel=True))
    event.set()
    with caplog.at_level(logging.WARNING):
        await shop.advance(1)
    assert shop.state(job) is State.CANCELLED
    assert [control.name for control in shop.database.control_events] == ["report_refused"]
    assert "lease lost" in caplog.text


async def test_a_heartbeat_refused_because_the_report_has_landed_is_no_lost_lease(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """The verdict decides: the reply to the report was lost, the heartbeat in between finds no lease."""
    from fencepost.domain.errors import UnknownOutcome

    event, wait = gate()
    shop.handle(wait)
    job = await shop.submit(lease=timedelta(seconds=0.6))
    await shop.start()
    shop.store.after["report"].extend(UnknownOutcome() for _ in range(3))
    event.set()
    with caplog.at_level(logging.WARNING):
        await shop.advance(5)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]
    assert "lease lost" not in caplog.text
