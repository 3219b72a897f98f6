"""The second event loop."""

import asyncio
import threading
import time

import pytest

from fencepost.adapters.system.background import LoopThread, SameLoop


async def test_work_runs_in_another_thread_and_answers() -> None:
    """The caller's loop is free meanwhile."""
    background = LoopThread()

    async def where() -> int:
        return threading.get_ident()

    assert await background.call(where) != threading.get_ident()
    background.close()


async def test_what_it_raises_is_raised_at_the_caller() -> None:
    """Errors do not stay over there."""
    background = LoopThread()

    async def fail() -> None:
        raise ValueError("over there")

    with pytest.raises(ValueError, match="over there"):
        await background.call(fail)
    background.close()


async def test_cancelling_the_call_cancels_the_work() -> None:
    """Nothing goes on unseen."""
    background = LoopThread()
    started, cancelled = threading.Event(), threading.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    call = asyncio.ensure_future(background.call(endless))
    assert await asyncio.to_thread(started.wait, 5)
    call.cancel()
    assert await asyncio.to_thread(cancelled.wait, 5)
    background.close()


async def test_a_blocked_caller_does_not_stop_it() -> None:
    """That is what it is for."""
    background = LoopThread()
    ticks = []

    async def tick() -> None:
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.01)

    call = asyncio.ensure_future(background.call(tick))
    await asyncio.sleep(0.05)
    before = len(ticks)
    time.sleep(0.3)  # noqa: ASYNC251  the fault under test
    assert len(ticks) - before >= 5
    call.cancel()
    background.close()


async def test_closing_cancels_what_still_runs() -> None:
    """And closing twice is harmless."""
    background = LoopThread()
    ended = threading.Event()
    started = threading.Event()

    async def endless() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = asyncio.ensure_future(background.call(endless))
    assert await asyncio.to_thread(started.wait, 5)
    background.close()
    background.close()
    assert ended.is_set()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_the_same_loop_can_play_the_second_one() -> None:
    """For simulations: everything happens where it was called."""
    background = SameLoop()

    async def where() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert await background.call(where) is asyncio.get_running_loop()
    background.close()
