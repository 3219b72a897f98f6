"""Timeouts: told apart from everything else, and honest about handlers that do not listen."""

import asyncio
from datetime import timedelta

import pytest

from fencepost.application.context import Context
from fencepost.application.handlers import Stopped
from fencepost.domain.vocabulary import State
from support.workshop import Workshop, forever, gate

TWO = timedelta(seconds=2)


async def test_a_handler_that_runs_too_long_is_stopped_and_its_attempt_has_failed(shop: Workshop) -> None:
    """The error's type is timeout, and the failure counts."""
    shop.handle(forever)
    job = await shop.submit(timeout=TWO)
    await shop.start()
    await shop.advance(1.9)
    assert shop.state(job) is State.RUNNING
    await shop.advance(0.2)
    assert shop.events(job) == ["enqueued", "claimed", "failed"]
    assert (shop.error(job)["type"], shop.job(job).failures) == ("timeout", 1)
    assert shop.last(job).ran == TWO


async def test_each_job_has_its_own_timeout(shop: Workshop) -> None:
    """B207: Two seconds, ten minutes and none on one worker."""
    shop.handle(forever)
    short = await shop.submit(timeout=TWO, max_attempts=1)
    long = await shop.submit(timeout=timedelta(minutes=10), max_attempts=1)
    none = await shop.submit(timeout=None)
    await shop.start()
    await shop.advance(599)
    assert [shop.state(job) for job in (short, long, none)] == [State.DEAD, State.RUNNING, State.RUNNING]
    await shop.advance(2)
    assert [shop.state(job) for job in (short, long, none)] == [State.DEAD, State.DEAD, State.RUNNING]
    await shop.advance(7200)
    assert (shop.state(none), shop.job(none).attempt) == (State.RUNNING, 1)


async def test_a_success_after_the_timeout_is_dropped(shop: Workshop) -> None:
    """B096: A handler that catches the cancellation and returns has still run too long."""

    async def deaf(ctx: Context) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "ok"
        return "not reached"

    shop.handle(deaf)
    job = await shop.submit(timeout=TWO)
    await shop.start()
    await shop.advance(3)
    assert shop.error(job)["type"] == "timeout"


async def test_a_handler_that_stops_can_say_what_it_was_doing(shop: Workshop) -> None:
    """It is kept with the timeout, and changes nothing else: a drain hands the job back as ever."""

    async def telling(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise Stopped("waited for nothing") from error

    shop.handle(telling)
    job, drained = await shop.submit(timeout=TWO), await shop.submit()
    await shop.start()
    await shop.advance(3)
    assert (shop.error(job)["type"], shop.error(job)["traceback"]) == ("timeout", "waited for nothing")
    await shop.finish()
    assert shop.events(drained) == ["enqueued", "claimed", "released"]


async def test_a_handler_that_ignores_its_timeout_keeps_its_slot_until_it_ends(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """B096: The timeout is reported without it, once, and no second handler starts beside it."""
    event = asyncio.Event()

    async def deaf(ctx: Context) -> str:
        while not event.is_set():
            try:
                await event.wait()
            except asyncio.CancelledError:
                continue
        return f"attempt {ctx.attempt}"

    shop.handle(deaf)
    shop.set(queues={"default": 1}, stop_grace=timedelta(seconds=1))
    job = await shop.submit(timeout=TWO)
    await shop.start()
    await shop.advance(2.5)
    assert shop.state(job) is State.RUNNING
    await shop.advance(0.6)
    assert shop.error(job)["type"] == "timeout"
    await shop.advance(60)
    assert (shop.job(job).attempt, shop.started) == (1, [job])
    event.set()
    await shop.advance(1)
    assert shop.events(job) == ["enqueued", "claimed", "failed", "claimed", "succeeded"]
    assert shop.job(job).result == '"attempt 2"'
    assert "late end" in caplog.text


async def test_a_timeout_and_a_cancel_request_are_told_apart(shop: Workshop) -> None:
    """The cancelled job is cancelled, the slow one failed."""
    shop.handle(forever)
    slow, unwanted = await shop.submit(timeout=timedelta(seconds=12)), await shop.submit()
    await shop.start()
    await shop.cancel(unwanted)
    await shop.advance(13)
    assert shop.events(unwanted)[-1] == "cancelled"
    assert shop.events(slow)[-1] == "failed"


async def test_a_quick_job_leaves_no_timer_behind(shop: Workshop) -> None:
    """A job that ended is not looked at again when its timeout would have struck."""
    event, wait = gate()
    event.set()
    shop.handle(wait)
    job = await shop.submit(timeout=TWO)
    await shop.start()
    await shop.advance(10)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]
