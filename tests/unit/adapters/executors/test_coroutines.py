"""Coroutines begin one after the other, each in a task of its own, also where Python can begin them at once."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from fencepost.adapters.executors.coroutines import CoroutineExecutor

VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="untouched")


class Told:
    """A work that calls something when it is told how it ended."""

    def __init__(self, begin: Callable[[], Any], then: Callable[[], object] = lambda: None) -> None:
        """Begin with the one, and do the other at the end."""
        self.begin, self._then = begin, then
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def end(self, result: Any, error: BaseException | None) -> None:
        """Keep the outcome."""
        self.outcome.set_result(result if error is None else error)
        self._then()


@pytest.fixture
def executor() -> CoroutineExecutor:
    """One that nobody has used yet."""
    return CoroutineExecutor()


async def nothing() -> None:
    """End at once."""


async def test_a_long_line_of_works_that_end_at_once_is_not_a_deep_stack(executor: CoroutineExecutor) -> None:
    """Each lets the next begin when it ends, as one slot does with what waits for it."""
    left = iter(range(10_000))
    done = asyncio.Event()

    def go_on() -> None:
        if next(left, None) is None:
            done.set()
        else:
            executor.start(Told(nothing, go_on))

    go_on()
    await asyncio.wait_for(done.wait(), 30)


async def test_the_loop_gets_its_turn_among_many_works_that_end_at_once(executor: CoroutineExecutor) -> None:
    """An answer that arrives meanwhile is read before the last of 10,000 that follow one another has ended."""
    ended = 0
    read_after = asyncio.get_running_loop().create_future()

    def go_on() -> None:
        nonlocal ended
        ended += 1
        if ended == 1:
            asyncio.get_running_loop().call_soon(lambda: read_after.set_result(ended))
        if ended < 10_000:
            executor.start(Told(nothing, go_on))

    executor.start(Told(nothing, go_on))
    assert await asyncio.wait_for(read_after, 30) < 1_000


async def test_works_begin_in_the_order_they_came(executor: CoroutineExecutor) -> None:
    """Whether those before them have ended or wait for something, and however many there are."""
    began, door = list[int](), asyncio.Event()

    def numbered(number: int) -> Callable[[], Coroutine[Any, Any, None]]:
        async def work() -> None:
            began.append(number)
            if number % 2:
                await door.wait()

        return work

    works = [Told(numbered(number)) for number in range(300)]
    for work in works:
        executor.start(work)
    await asyncio.wait_for(works[298].outcome, 5)
    door.set()
    await asyncio.wait_for(asyncio.gather(*[work.outcome for work in works]), 5)
    assert began == list(range(300))


async def test_what_one_sets_in_context_variables_the_next_does_not_see(executor: CoroutineExecutor) -> None:
    """Also when it is the end of the one that lets the next begin."""

    async def handler() -> str:
        before = VARIABLE.get()
        VARIABLE.set("set by a handler")
        return before

    second = Told(handler)
    first = Told(handler, lambda: executor.start(second))
    executor.start(first)
    assert [await first.outcome, await second.outcome] == ["untouched", "untouched"]


async def test_each_has_a_task_of_its_own(executor: CoroutineExecutor) -> None:
    """What it asks its task for, or does to it, is nobody else's."""

    async def handler() -> asyncio.Task[Any] | None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()  # without a wait there is no place at which it could be heard
        return task

    works = [Told(handler) for _ in range(3)]
    for work in works:
        executor.start(work)
    tasks = {await work.outcome for work in works} | {asyncio.current_task()}
    assert len(tasks) == 4
    assert not any(isinstance(task, BaseException) for task in tasks)


async def test_a_timeout_within_a_handler_ends_its_wait(executor: CoroutineExecutor) -> None:
    """It is set in the first step and strikes in a later one."""

    async def handler() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    work = Told(handler)
    executor.start(work)
    assert isinstance(await asyncio.wait_for(work.outcome, 5), TimeoutError)


async def test_one_that_is_cancelled_before_it_begins_does_not_begin(executor: CoroutineExecutor) -> None:
    """Nobody is told; those behind it begin."""
    began = list[str]()

    async def handler() -> None:
        began.append("cancelled")

    cancelled, last = Told(handler), Told(nothing)
    running = executor.start(cancelled)
    executor.start(last)
    running.cancel()
    await asyncio.wait_for(last.outcome, 5)
    assert not began
    assert not cancelled.outcome.done()


async def test_one_that_has_ended_can_be_cancelled_in_vain(executor: CoroutineExecutor) -> None:
    """It is told once."""
    work = Told(nothing)
    running = executor.start(work)
    await asyncio.wait_for(work.outcome, 5)
    running.cancel()
    await asyncio.sleep(0)
    assert work.outcome.result() is None


async def test_a_loop_whose_tasks_somebody_makes_keeps_them(executor: CoroutineExecutor) -> None:
    """For instance to trace them. Factories of an older kind know nothing of contexts."""
    made = list[asyncio.Task[Any]]()

    def factory(loop: Any, coroutine: Any, **more: Any) -> Any:
        assert more.get("context") is None
        made.append(asyncio.Task(coroutine, loop=loop, **more))
        return made[-1]

    async def handler() -> asyncio.Task[Any] | None:
        return asyncio.current_task()

    asyncio.get_running_loop().set_task_factory(factory)
    work = Told(handler)
    executor.start(work)
    assert [await asyncio.wait_for(work.outcome, 5)] == made[:1]


def test_one_loop_after_another_can_be_worked_on(executor: CoroutineExecutor) -> None:
    """Works begin on the loop on which they were started."""

    async def start() -> object:
        work = Told(nothing)
        executor.start(work)
        return await asyncio.wait_for(work.outcome, 5)

    assert [asyncio.run(start()) for _ in range(2)] == [None, None]
