"""Where handlers run: both executors keep the same promises."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.adapters.executors.coroutines import CoroutineExecutor
from fencepost.adapters.executors.threads import ThreadExecutor
from fencepost.application.ports.executor import Executor


class Recorded:
    """A work that keeps how it ended."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        """Call this when begun."""
        self.begin = begin
        self.ended = asyncio.Event()
        self.outcome: tuple[Any, BaseException | None] | None = None
        self.thread = 0

    def end(self, result: Any, error: BaseException | None) -> None:
        """Keep the outcome and where it was told."""
        assert self.outcome is None
        self.outcome, self.thread = (result, error), threading.get_ident()
        self.ended.set()


def coroutine(work: Callable[[], Any]) -> Callable[[], Any]:
    """Make a coroutine function of a plain one."""

    async def call() -> Any:
        return work()

    return call


ALL = pytest.mark.parametrize(
    ("executor", "wrapped"),
    [(CoroutineExecutor(), coroutine), (ThreadExecutor(), lambda work: work)],
    ids=["coroutines", "threads"],
)


@ALL
async def test_a_result_is_told_on_the_workers_loop(executor: Executor, wrapped: Any) -> None:
    """Wherever the handler ran."""
    work = Recorded(wrapped(lambda: 42))
    executor.start(work)
    await asyncio.wait_for(work.ended.wait(), 5)
    assert work.outcome == (42, None)
    assert work.thread == threading.get_ident()


@ALL
@pytest.mark.parametrize(
    "error",
    [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, StopIteration, GeneratorExit],
)
async def test_nothing_that_is_raised_escapes(
    executor: Executor, wrapped: Any, error: type[BaseException]
) -> None:
    """It is told as the outcome, and the executor goes on."""

    def fail() -> None:
        raise error

    works = [Recorded(wrapped(fail)), Recorded(wrapped(lambda: "next"))]
    for work in works:
        executor.start(work)
        await asyncio.wait_for(work.ended.wait(), 5)
    assert works[0].outcome is not None
    # a coroutine cannot raise StopIteration: Python turns it into a RuntimeError
    assert isinstance(works[0].outcome[1], error | RuntimeError)
    assert works[1].outcome == ("next", None)


@ALL
async def test_an_exception_before_the_handler_is_told_too(executor: Executor, wrapped: Any) -> None:
    """For instance a payload that cannot be read."""

    def begin() -> None:
        raise LookupError("before")

    work = Recorded(begin)
    executor.start(work)
    await asyncio.wait_for(work.ended.wait(), 5)
    assert work.outcome is not None
    assert isinstance(work.outcome[1], LookupError)


async def test_a_coroutine_can_be_cancelled() -> None:
    """It ends with CancelledError."""
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    work = Recorded(endless)
    running = CoroutineExecutor().start(work)
    await begun.wait()
    running.cancel()
    await work.ended.wait()
    assert work.outcome is not None
    assert isinstance(work.outcome[1], asyncio.CancelledError)


async def test_threads_are_reused() -> None:
    """One after the other, a hundred works need no more than a few threads."""
    executor, threads = ThreadExecutor(), set()
    for _ in range(100):
        work = Recorded(lambda: threads.add(threading.get_ident()))
        executor.start(work)
        await asyncio.wait_for(work.ended.wait(), 5)
    assert len(threads) == 1
    executor.close()


async def test_a_closed_executor_leaves_no_spare_threads() -> None:
    """They end; a busy one ends after its work."""
    executor, release = ThreadExecutor("closing"), threading.Event()
    works = [Recorded(lambda: release.wait(10)) for _ in range(3)]
    for work in works:
        executor.start(work)
    executor.close()
    release.set()
    for work in works:
        await asyncio.wait_for(work.ended.wait(), 5)
    for thread in [t for t in threading.enumerate() if t.name.startswith("closing")]:
        await asyncio.to_thread(thread.join, 5)
        assert not thread.is_alive()


async def test_a_thread_that_outlives_the_loop_is_no_error() -> None:
    """It has nobody to tell; its lease will run out."""
    executor, release, begun = ThreadExecutor("late"), threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        release.wait(10)

    async def start() -> None:
        executor.start(Recorded(wait))

    await asyncio.to_thread(asyncio.run, start())
    assert await asyncio.to_thread(begun.wait, 5)
    release.set()
    executor.close()
    for thread in [t for t in threading.enumerate() if t.name.startswith("late")]:
        await asyncio.to_thread(thread.join, 5)


def test_a_coroutine_that_outlives_the_loop_tells_nobody() -> None:
    """What is left of it is closed without an outcome: a closed loop has nobody to tell."""
    work = Recorded(coroutine(lambda: None))
    waiting = asyncio.Event()
    work.begin = waiting.wait
    loop = asyncio.new_event_loop()

    async def start() -> Any:
        CoroutineExecutor().start(work)
        await asyncio.sleep(0)
        [task] = asyncio.all_tasks() - {asyncio.current_task()}
        return task.get_coro()

    left = loop.run_until_complete(start())
    loop.close()
    left.close()
    assert work.outcome is None
