"""Group commit: who shares a statement with whom, and what each hears of it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, field

from fencepost.application.coalescing import Bounds, CoalescingSubmitter
from fencepost.application.ports.submitter import Submission, Submitted
from fencepost.domain.errors import InvalidInput, Overloaded, Unavailable, UnknownOutcome
from support.api import until
from support.asking import submission, submit_key


@define
class Store:
    """Writes a batch once it is let go, unless a job in it is refused; nothing of a refused batch is written."""

    refused: dict[str, Exception] = field(factory=dict)
    batches: list[list[str]] = field(factory=list)
    written: list[str] = field(factory=list)
    open: asyncio.Event = field(factory=asyncio.Event)

    async def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        """Take a batch."""
        types = [one.command.specification.type for one in submissions]
        self.batches.append(types)
        await self.open.wait()
        for name in types:
            if name in self.refused:
                raise self.refused[name]
        self.written += types
        return [Submitted(self.written.index(name)) for name in types]


@pytest.fixture
async def store() -> Store:
    """A store that is not let go yet."""
    return Store()


def gathering(store: Store, **bounds: Any) -> CoalescingSubmitter:
    """A submitter of one flight at a time, unless said otherwise."""
    return CoalescingSubmitter(store, bounds=Bounds(**{"flights": 1, **bounds}))


async def settle() -> None:
    """Let everything happen that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def begun(
    submitter: CoalescingSubmitter, *types: str, **options: Any
) -> list[asyncio.Task[Sequence[Submitted]]]:
    """Submit each as a caller of its own, up to where they wait."""
    tasks = [asyncio.ensure_future(submitter.submit([submission(type=t, **options)])) for t in types]
    await settle()
    return tasks


async def heard(tasks: Sequence[asyncio.Task[Sequence[Submitted]]]) -> list[Any]:
    """What each caller was answered: the place of its job, or the error's class."""
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    return [type(end) if isinstance(end, BaseException) else end[0].job_id for end in ends]


async def test_an_idle_submitter_begins_at_once(store: Store) -> None:
    """Nobody waits for company: one submit is a statement without any delay."""
    await begun(gathering(store), "a")
    assert store.batches == [["a"]]


async def test_those_that_come_together_share_a_statement(store: Store) -> None:
    """Callers of the same moment are one batch, in their order, and each gets its own answer."""
    tasks = await begun(gathering(store), "a", "b", "c")
    assert store.batches == [["a", "b", "c"]]
    store.open.set()
    assert await heard(tasks) == [0, 1, 2]


async def test_what_arrives_meanwhile_is_the_next_batch(store: Store) -> None:
    """While a statement is under way others gather, and go together as soon as it has ended."""
    submitter = gathering(store)
    first = await begun(submitter, "a")
    later = await begun(submitter, "b") + await begun(submitter, "c")
    assert store.batches == [["a"]]
    store.open.set()
    assert await heard(first + later) == [0, 1, 2]
    assert store.batches == [["a"], ["b", "c"]]


async def test_nobody_is_answered_before_the_commit(store: Store) -> None:
    """Accepted means durable: as long as the store has not said so, no caller goes on."""
    tasks = await begun(gathering(store), "a", "b")
    assert not any(task.done() for task in tasks)
    assert store.written == []
    store.open.set()
    await heard(tasks)
    assert store.written == ["a", "b"]


async def test_only_so_many_statements_are_under_way(store: Store) -> None:
    """For a crowd a second statement starts beside the first; a third waits for the end of one."""
    submitter = gathering(store, flights=2, crowd=1)
    tasks = [task for name in "abcd" for task in await begun(submitter, name)]
    assert store.batches == [["a"], ["b"]]
    store.open.set()
    assert sorted(await heard(tasks)) == [0, 1, 2, 3]
    assert sorted(store.batches[2:]) == [["c", "d"]]


async def test_few_wait_for_the_statement_under_way(store: Store) -> None:
    """Below the size of a crowd those that gather go together, with the next statement."""
    submitter = gathering(store, flights=2, crowd=3, patience=60)
    tasks = [task for name in "abc" for task in await begun(submitter, name)]
    assert store.batches == [["a"]]
    tasks += await begun(submitter, "d")
    assert store.batches == [["a"], ["b", "c", "d"]]
    store.open.set()
    assert sorted(await heard(tasks)) == [0, 1, 2, 3]


@pytest.mark.parametrize("patience", [0, 0.01])
async def test_nobody_waits_long_behind_a_statement_that_does_not_end(store: Store, patience: float) -> None:
    """When the statement under way takes longer than is normal, those that wait go beside it."""
    submitter = gathering(store, flights=2, patience=patience)
    tasks = await begun(submitter, "a") + await begun(submitter, "b")
    await until(lambda: len(store.batches) == 2)
    store.open.set()
    assert sorted(await heard(tasks)) == [0, 1]


async def test_calls_of_several_jobs_stay_whole(store: Store) -> None:
    """A small batch of one caller travels with others and is answered in its own order."""
    submitter = gathering(store)
    pair = asyncio.ensure_future(submitter.submit([submission(type="a"), submission(type="b")]))
    [single] = await begun(submitter, "c")
    store.open.set()
    assert (await pair, await single) == ([Submitted(0), Submitted(1)], [Submitted(2)])
    assert store.batches == [["a", "b", "c"]]


async def test_keys_unique_options_and_large_calls_go_alone(store: Store) -> None:
    """Whoever may have to wait for others, or is a batch already, holds nobody up and is held up by nobody."""
    submitter = gathering(store, small=2)
    await begun(submitter, "a")
    await begun(submitter, "key", key=submit_key())
    await begun(submitter, "unique", unique_key="u")
    many = asyncio.ensure_future(submitter.submit([submission(type="many")] * 3))
    await settle()
    assert store.batches == [["a"], ["key"], ["unique"], ["many"] * 3]
    store.open.set()
    assert len(await many) == 3


async def test_one_bad_job_fails_alone(store: Store) -> None:
    """The culprit of a batch is found; it hears what is wrong with it, and all others are written once."""
    store.refused["bad"] = InvalidInput("values", "cannot be stored")
    tasks = await begun(gathering(store), "a", "b", "bad", "c", "d", "e", "f")
    store.open.set()
    assert await heard(tasks) == [0, 1, InvalidInput, 2, 3, 4, 5]
    assert sorted(store.written) == ["a", "b", "c", "d", "e", "f"]


async def test_each_of_several_culprits_hears_its_own_error(store: Store) -> None:
    """Two bad jobs beside each other do not take each other's answer."""
    store.refused = {name: InvalidInput("values", name) for name in ("bad", "worse")}
    tasks = await begun(gathering(store), "a", "bad", "worse", "b")
    store.open.set()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(end) for end in ends[1:3]] == ["values: bad", "values: worse"]
    assert store.written == ["a", "b"]


@pytest.mark.parametrize("error", [UnknownOutcome("lost"), Unavailable("away"), RuntimeError("bug")])
async def test_what_nobody_is_to_blame_for_is_everybodys_answer(store: Store, error: Exception) -> None:
    """After a lost reply, without a database or after a fault of ours nothing is tried again: each hears the same."""
    store.refused["b"] = error
    tasks = await begun(gathering(store), "a", "b", "c")
    store.open.set()
    assert await heard(tasks) == [type(error)] * 3
    assert store.batches == [["a", "b", "c"]]


async def test_who_else_may_be_blamed_can_be_told(store: Store) -> None:
    """Errors of the store's own kind are known to whoever put it there."""
    store.refused["bad"] = LookupError("refused by a trigger")
    submitter = CoalescingSubmitter(store, lambda error: isinstance(error, LookupError))
    tasks = await begun(submitter, "a", "bad")
    store.open.set()
    assert await heard(tasks) == [0, LookupError]


async def test_after_an_error_it_goes_on(store: Store) -> None:
    """A failed batch takes nothing from the next one."""
    store.open.set()
    submitter = gathering(store)
    store.refused["a"] = Unavailable("away")
    assert await heard(await begun(submitter, "a")) == [Unavailable]
    assert await heard(await begun(submitter, "b")) == [0]


async def test_a_cancelled_call_leaves_the_others_alone(store: Store) -> None:
    """One caller of a statement under way gives up; the statement goes on, and the others are answered."""
    tasks = await begun(gathering(store), "a", "b", "c")
    tasks[0].cancel()
    await settle()
    store.open.set()
    assert await heard(tasks) == [asyncio.CancelledError, 1, 2]


async def test_a_call_cancelled_in_time_is_not_written(store: Store) -> None:
    """Who gives up before a statement has begun leaves no job behind."""
    submitter = gathering(store)
    first = await begun(submitter, "a")
    later = await begun(submitter, "b", "c")
    later[0].cancel()
    store.open.set()
    assert await heard(first + later) == [0, asyncio.CancelledError, 1]
    assert store.written == ["a", "c"]


async def test_a_batch_is_bounded(store: Store) -> None:
    """Neither more jobs nor more bytes of payload than allowed are one statement; a single large job is."""
    store.open.set()
    await heard(await begun(gathering(store, batch_jobs=2), "a", "b", "c", "d", "e"))
    assert store.batches == [["a", "b"], ["c", "d"], ["e"]]
    store.batches.clear()
    submitter = gathering(store, batch_bytes=10)
    sizes = {"f": 6, "g": 6, "h": 30, "i": 4, "j": 4}
    await asyncio.gather(
        *(
            submitter.submit([submission(type=name, payload="é" * (size // 2))])
            for name, size in sizes.items()
        )
    )
    assert store.batches == [["f"], ["g"], ["h"], ["i", "j"]]


@pytest.mark.parametrize("bounds", [{"waiting_jobs": 2}, {"waiting_bytes": 5}])
async def test_more_than_may_wait_is_refused_at_once(store: Store, bounds: dict[str, int]) -> None:
    """Above the bound a call hears so without being written; those that wait are served, and then there is room."""
    submitter = gathering(store, **bounds)
    tasks = [task for name in "abcd" for task in await begun(submitter, name)]
    assert tasks[3].done()
    store.open.set()
    assert await heard(tasks) == [0, 1, 2, Overloaded]
    assert store.written == ["a", "b", "c"]
    assert await heard(await begun(submitter, "e")) == [3]


async def test_a_loop_that_is_closed_leaves_no_caller_without_a_truth(store: Store) -> None:
    """When the statement itself is cancelled, nobody knows whether it was committed, and each caller hears that."""
    tasks = await begun(gathering(store), "a", "b")
    for flight in asyncio.all_tasks() - {asyncio.current_task(), *tasks}:
        flight.cancel()
    assert await heard(tasks) == [UnknownOutcome] * 2


def test_one_submitter_may_serve_one_loop_after_another() -> None:
    """Nothing is left of a loop that ended in the middle of a statement."""

    async def once(submitter: CoalescingSubmitter, types: str, *, wait: bool) -> list[Any]:
        tasks = await begun(submitter, *types)
        return await heard(tasks) if wait else []

    store = Store()
    submitter = gathering(store)
    asyncio.run(once(submitter, "ab", wait=False))
    store.open = asyncio.Event()
    store.open.set()
    assert asyncio.run(once(submitter, "cd", wait=True)) == [0, 1]
