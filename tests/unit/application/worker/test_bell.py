"""The bell that wakes a waiting loop."""

import asyncio
import threading

from fencepost.adapters.system.local_time import SystemTime
from fencepost.application.worker.bell import Bell
from support.local_time import MovedTime, settle


async def test_a_ring_before_the_wait_is_not_lost() -> None:
    """It ends the next wait at once, and only that one."""
    bell = Bell(MovedTime())
    bell.ring()
    await bell.wait()
    second = asyncio.ensure_future(bell.wait())
    await settle()
    assert not second.done()
    bell.ring()
    await second


async def test_a_wait_ends_after_its_time() -> None:
    """Without a ring it takes exactly as long as it was told."""
    time = MovedTime()
    bell = Bell(time)
    waiting = asyncio.ensure_future(bell.wait(2))
    await time.advance(1.9)
    assert not waiting.done()
    await time.advance(0.1)
    assert waiting.done()


async def test_the_alarm_of_an_earlier_wait_does_not_end_a_later_one() -> None:
    """A ring cancels the alarm that was set."""
    time = MovedTime()
    bell = Bell(time)
    first = asyncio.ensure_future(bell.wait(1))
    await settle()
    bell.ring()
    await first
    second = asyncio.ensure_future(bell.wait(10))
    await time.advance(5)
    assert not second.done()
    second.cancel()


async def test_a_wait_for_no_time_gives_others_a_turn() -> None:
    """A moment that has passed is not waited for."""
    bell = Bell(SystemTime())
    await bell.wait(-1)


async def test_another_thread_can_ring() -> None:
    """The waiting loop wakes although it has nothing else to do."""
    bell = Bell(SystemTime())
    bell.attach()
    threading.Timer(0.01, bell.ring_across).start()
    await asyncio.wait_for(bell.wait(), 5)


def test_ringing_for_a_loop_that_has_ended_is_harmless() -> None:
    """There is nobody left to wake."""
    bell = Bell(SystemTime())

    async def attach() -> None:
        bell.attach()

    asyncio.run(attach())
    bell.ring_across()
