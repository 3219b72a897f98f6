"""Plain functions as handlers: they run in threads and cannot be stopped from outside."""

import threading
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio

from fencepost.application.context import Context
from fencepost.domain.vocabulary import State
from support.workshop import Workshop, until


@pytest_asyncio.fixture
async def release(shop: Workshop) -> AsyncIterator[threading.Event]:
    """Something for handlers to wait for, set at the end at the latest."""
    event = threading.Event()
    yield event
    event.set()
    shop.threads.close()


async def begun(shop: Workshop) -> None:
    """Wait until some handler has really begun: one that was told to stop before never does."""
    await until(lambda: any(attempt.started is not None for attempt in shop.worker._ledger.running))


async def test_a_plain_function_returns_its_result(shop: Workshop, release: threading.Event) -> None:
    """It runs outside the event loop's thread."""
    names: list[str] = []

    def work(ctx: Context, a: int) -> int:
        names.append(threading.current_thread().name)
        return a * 2

    shop.handle(work, executor="thread")
    job = await shop.submit(payload='{"a":21}')
    await shop.start()
    await until(lambda: shop.state(job) is State.SUCCEEDED)
    assert shop.job(job).result == "42"
    assert names[0].startswith("fencepost-handler")


async def test_whatever_it_raises_is_a_failure(shop: Workshop, release: threading.Event) -> None:
    """SystemExit in a thread fails the attempt; the thread serves the next job."""

    def work(ctx: Context) -> None:
        raise SystemExit(1)

    shop.handle(work, executor="thread")
    first = await shop.submit(times=20, max_attempts=1)
    await shop.start()
    await until(lambda: all(shop.state(job) is State.DEAD for job in range(first, first + 20)))
    assert shop.error(first)["type"] == "SystemExit"


async def test_as_many_run_at_once_as_there_are_slots(shop: Workshop, release: threading.Event) -> None:
    """Five slots, five threads, all at the same time."""
    together = threading.Barrier(5)

    def work(ctx: Context) -> None:
        together.wait(10)

    shop.handle(work, executor="thread")
    first = await shop.submit(times=5)
    await shop.start()
    await until(lambda: all(shop.state(job) is State.SUCCEEDED for job in range(first, first + 5)))


async def test_a_function_that_returns_because_it_was_cancelled_is_cancelled(
    shop: Workshop, release: threading.Event
) -> None:
    """It read ctx.cancelled and returned nothing."""

    def work(ctx: Context) -> None:
        while not ctx.cancelled:
            release.wait(0.002)

    shop.handle(work, executor="thread")
    job = await shop.submit()
    await shop.start()
    await begun(shop)
    await shop.cancel(job)
    await shop.advance(10)
    await until(lambda: shop.state(job) is State.CANCELLED)
    assert shop.last(job).command == "confirm_cancel"


async def test_a_function_that_finishes_in_spite_of_a_cancel_has_succeeded(
    shop: Workshop, release: threading.Event
) -> None:
    """It read ctx.cancelled and returned a result all the same."""

    def work(ctx: Context) -> str:
        while not ctx.cancelled:
            release.wait(0.002)
        return "done"

    shop.handle(work, executor="thread")
    job = await shop.submit()
    await shop.start()
    await begun(shop)
    await shop.cancel(job)
    await shop.advance(10)
    await until(lambda: shop.state(job) is State.SUCCEEDED)


async def test_a_function_can_stop_by_an_exception(shop: Workshop, release: threading.Event) -> None:
    """raise_if_cancelled stops it deep inside; on a stop of the worker the job is released."""

    def work(ctx: Context) -> None:
        while True:
            ctx.raise_if_cancelled()
            release.wait(0.002)

    shop.handle(work, executor="thread")
    shop.set(drain_grace=timedelta(seconds=1))
    job = await shop.submit()
    await shop.start()
    await begun(shop)
    shop.worker.stop()
    await shop.advance(1)
    await until(lambda: shop.events(job)[-1] == "released")


async def test_a_function_that_ignores_its_timeout_keeps_its_slot(
    shop: Workshop, release: threading.Event
) -> None:
    """B096: The attempt failed by timeout, no second handler runs beside it, and its late result is dropped."""
    attempts: list[int] = []

    def work(ctx: Context) -> str:
        attempts.append(ctx.attempt)
        release.wait(10)
        return f"attempt {ctx.attempt}"

    shop.handle(work, executor="thread")
    shop.set(queues={"default": 1})
    job = await shop.submit(timeout=timedelta(seconds=2))
    await shop.start()
    await until(lambda: attempts)
    await shop.advance(60)
    assert (shop.events(job), attempts) == (["enqueued", "claimed", "failed"], [1])
    release.set()
    await until(lambda: not shop.worker.running)
    await shop.advance(1)
    await until(lambda: shop.state(job) is State.SUCCEEDED)
    assert shop.job(job).result == '"attempt 2"'
    assert shop.database.control_events == []


async def test_a_transaction_in_a_thread_completes_the_job(shop: Workshop, release: threading.Event) -> None:
    """The synchronous twin does the same."""

    def work(ctx: Context) -> None:
        with ctx.transaction_sync() as writes:
            writes.append("row")

    shop.handle(work, executor="thread")
    job = await shop.submit()
    await shop.start()
    await until(lambda: shop.state(job) is State.SUCCEEDED and not shop.worker.running)
    assert (shop.database.writes, shop.store.reported) == (["row"], [])
