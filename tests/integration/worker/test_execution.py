"""What becomes of a job when its handler returns or raises."""

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from fencepost.application.context import Context
from fencepost.application.handlers import Discard, Failed, Retry, Snooze
from fencepost.domain.limits import ERROR_BYTES
from fencepost.domain.vocabulary import State
from support.workshop import Workshop, gate


class Speechless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


def deep(depth: int = 0) -> int:
    """Recurse without end."""
    return deep(depth + 1) + 1


async def test_a_returned_value_becomes_the_result(shop: Workshop) -> None:
    """The value comes back as JSON, with the times the handler ran."""

    async def add(ctx: Context, a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    shop.handle(add)
    job = await shop.submit(payload='{"a":1,"b":9007199254740993}')
    await shop.start()
    assert shop.job(job).result == '{"sum":9007199254740994}'
    assert shop.last(job).ran is not None
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]


async def test_nothing_returned_is_no_result(shop: Workshop) -> None:
    """A handler without a return value succeeds with result None."""

    async def silent(ctx: Context) -> None:
        pass

    shop.handle(silent)
    job = await shop.submit()
    await shop.start()
    assert (shop.state(job), shop.job(job).result) == (State.SUCCEEDED, None)


async def test_snooze_discard_and_retry_do_what_they_say(shop: Workshop) -> None:
    """A handler can put its job off for free, end it, or choose the wait after a failure."""

    async def act(ctx: Context, what: str) -> None:
        raise {"snooze": Snooze("10m"), "discard": Discard("no use"), "retry": Retry(7, "soon")}[what]

    shop.handle(act)
    snoozed, discarded, retried = [
        await shop.submit(payload=f'{{"what":"{what}"}}') for what in ("snooze", "discard", "retry")
    ]
    await shop.start()
    assert shop.job(snoozed).run_at - shop.last(snoozed).at == timedelta(minutes=10)
    assert shop.job(snoozed).failures == 0
    assert (shop.state(discarded), shop.error(discarded)["message"]) == (State.DEAD, "no use")
    assert shop.job(retried).run_at - shop.last(retried).at == timedelta(seconds=7)
    assert shop.job(retried).failures == 1


async def test_a_handler_can_choose_what_is_kept_of_its_failure(shop: Workshop) -> None:
    """Kind, message and details stand where an exception's would, within the same bounds."""

    async def act(ctx: Context) -> None:
        raise Failed("exit_code", "exit code 3", "x" * 100_000)

    shop.handle(act)
    job = await shop.submit()
    await shop.start()
    error = shop.error(job)
    assert (error["type"], error["message"]) == ("exit_code", "exit code 3")
    assert 4096 < len(error["traceback"]) < ERROR_BYTES
    assert (shop.job(job).failures, shop.state(job)) == (1, State.PENDING)


@pytest.mark.parametrize("delay", [-1, "soon", None, float("nan")])
async def test_an_impossible_snooze_is_a_failure(shop: Workshop, delay: object) -> None:
    """A delay that is none fails the attempt and names the rule."""

    async def act(ctx: Context) -> None:
        raise Snooze(delay)

    shop.handle(act)
    job = await shop.submit()
    await shop.start()
    assert shop.error(job)["type"] == "InvalidInput"


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        Speechless(),
        ValueError("x" * 50_000_000),
        ValueError("a\x00b\ud800"),
        ExceptionGroup("several", [ValueError("one"), TypeError("two")]),
        BaseExceptionGroup("worse", [SystemExit()]),
        StopAsyncIteration(),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_handler_raises_is_one_failure_and_the_worker_lives(
    shop: Workshop, error: BaseException
) -> None:
    """B135, B136: Odd exceptions give one failed event with bounded, storable text, and the next job runs."""

    async def fail(ctx: Context) -> None:
        raise error

    async def fine(ctx: Context) -> str:
        return "alive"

    shop.handle(fail)
    shop.handle(fine, type="fine")
    job = await shop.submit(max_attempts=1)
    await shop.start()
    after = await shop.submit(type="fine")
    await shop.advance(2)
    assert shop.events(job) == ["enqueued", "claimed", "failed"]
    assert sum(len(text.encode()) for text in shop.error(job).values()) <= ERROR_BYTES
    assert "\x00" not in shop.error(job)["message"]
    assert shop.state(after) is State.SUCCEEDED


async def test_a_huge_traceback_is_cut(shop: Workshop) -> None:
    """B136: A RecursionError keeps its innermost frames within the limit."""

    async def fail(ctx: Context) -> None:
        deep()

    shop.handle(fail)
    job = await shop.submit()
    await shop.start()
    assert shop.error(job)["type"] == "RecursionError"
    assert "in deep" in shop.error(job)["traceback"]


async def test_a_chain_of_exceptions_keeps_its_cause(shop: Workshop) -> None:
    """What caused an exception is in its traceback."""

    async def fail(ctx: Context) -> None:
        try:
            raise KeyError("first")  # noqa: TRY301  a chain is what is tested
        except KeyError as error:
            raise ValueError("second") from error

    shop.handle(fail)
    job = await shop.submit()
    await shop.start()
    assert shop.error(job)["message"] == "second"
    assert "caused by KeyError: 'first'" in shop.error(job)["traceback"]


class Loud:
    """A value whose representation raises."""

    def __repr__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


class Leaving(list[int]):
    """A list that ends whoever looks into it."""

    def __iter__(self) -> Iterator[int]:
        """Leave."""
        raise SystemExit


class LastWord:
    """A reason that is no text and ends whoever asks for one."""

    def __str__(self) -> str:
        """Leave."""
        raise KeyboardInterrupt


def endless() -> list[Any]:
    """A list that contains itself."""
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "value",
    [
        {1},
        Decimal(1),
        datetime.now(UTC),
        timedelta(1),
        float("nan"),
        b"x",
        endless(),
        "\x00",
        "\ud800",
        "x" * 50_000_000,
        Loud(),
        Leaving([1]),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_result_that_is_no_json_fails_the_attempt(shop: Workshop, value: object) -> None:
    """B137: The job is not left running: it fails as bad_result, like any failure."""

    async def give(ctx: Context) -> object:
        return value

    shop.handle(give)
    job = await shop.submit()
    await shop.start()
    assert (shop.state(job), shop.error(job)["type"]) == (State.PENDING, "bad_result")


@pytest.mark.parametrize("ending", [Discard, lambda reason: Retry(1, reason)], ids=["discard", "retry"])
async def test_a_reason_that_is_no_text_is_a_failure(shop: Workshop, ending: Any) -> None:
    """Whatever happens while the reason is read: the attempt has failed, and the worker lives."""

    async def act(ctx: Context) -> None:
        raise ending(LastWord())

    shop.handle(act)
    job = await shop.submit(times=2)
    await shop.start()
    assert [shop.error(number)["type"] for number in (job, job + 1)] == ["KeyboardInterrupt"] * 2


@pytest.mark.parametrize("payload", ["[1]", "null", "{", '{"a":1,"a":2}', "[" * 100_000, None])
async def test_a_payload_that_cannot_be_read_fails_only_its_own_job(
    shop: Workshop, payload: str | None
) -> None:
    """B098, B170: The other four of the batch complete at once."""

    async def fine(ctx: Context) -> None:
        pass

    shop.handle(fine)
    first = await shop.submit(times=2)
    bad = await shop.submit(payload=payload)
    await shop.submit(times=2)
    await shop.start()
    states = [shop.state(job) for job in range(first, first + 5) if job != bad]
    assert states == [State.SUCCEEDED] * 4
    assert shop.error(bad)["type"] == "bad_payload"


async def test_arguments_that_cannot_be_bound_fail_only_their_own_job(shop: Workshop) -> None:
    """B098: An exception of the binding is that job's failure."""

    def bind(payload: dict[str, Any]) -> dict[str, Any]:
        return {"number": int(payload["number"])}

    async def square(ctx: Context, number: int) -> int:
        return number**2

    shop.handle(square, bind=bind)
    good, bad, missing = [
        await shop.submit(payload=text) for text in ('{"number":"3"}', '{"number":"x"}', "{}")
    ]
    await shop.start()
    assert shop.job(good).result == "9"
    assert [shop.error(job)["type"] for job in (bad, missing)] == ["bad_payload"] * 2


async def test_each_handler_has_context_variables_of_its_own(shop: Workshop) -> None:
    """What one handler sets, the next one does not see."""
    variable: ContextVar[int] = ContextVar("variable", default=0)

    async def count(ctx: Context) -> int:
        variable.set(variable.get() + 1)
        await asyncio.sleep(0)
        return variable.get()

    shop.handle(count)
    first = await shop.submit(times=3)
    await shop.start()
    assert [shop.job(job).result for job in range(first, first + 3)] == ["1"] * 3


async def test_a_handlers_own_timeout_is_its_own(shop: Workshop) -> None:
    """asyncio.timeout inside a handler ends only what it wraps."""

    async def patient(ctx: Context) -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return "went on"
        return "not reached"

    shop.handle(patient)
    job = await shop.submit()
    await shop.start()
    assert shop.job(job).result == '"went on"'


async def test_no_more_handlers_run_than_there_are_slots(shop: Workshop) -> None:
    """B097: Only free slots are claimed for: with two slots the third job stays pending until one is free."""
    shop.set(queues={"default": 2})
    event, wait = gate()
    shop.handle(wait)
    first = await shop.submit(times=5)
    await shop.start()
    assert [shop.state(job) for job in range(first, first + 5)] == [State.RUNNING] * 2 + [State.PENDING] * 3
    event.set()
    await shop.advance(1)
    assert {shop.state(job) for job in range(first, first + 5)} == {State.SUCCEEDED}
    assert all(shop.job(job).attempt == 1 for job in range(first, first + 5))


async def test_queues_do_not_take_each_others_slots(shop: Workshop) -> None:
    """A full queue leaves the other queue's slots alone."""
    shop.set(queues={"slow": 1, "default": 1})
    _, wait = gate()

    async def quick(ctx: Context) -> None:
        pass

    shop.handle(wait)
    shop.handle(quick, type="quick")
    slow = await shop.submit(queue="slow", times=2)
    fast = await shop.submit(type="quick", times=3)
    await shop.start()
    assert [shop.state(slow), shop.state(slow + 1)] == [State.RUNNING, State.PENDING]
    assert {shop.state(job) for job in range(fast, fast + 3)} == {State.SUCCEEDED}


async def test_a_handler_that_cannot_be_started_fails_only_its_own_job(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system has no more threads: the coroutines of the same batch run all the same."""

    def exhausted(work: object) -> None:
        raise RuntimeError("can't start new thread")

    async def fine(ctx: Context) -> None:
        pass

    monkeypatch.setattr(shop.threads, "start", exhausted)
    shop.handle(lambda ctx: None, executor="thread")
    shop.handle(fine, type="fine")
    bad, good = await shop.submit(), await shop.submit(type="fine")
    await shop.start()
    assert shop.error(bad)["message"] == "can't start new thread"
    assert shop.state(good) is State.SUCCEEDED
    assert shop.worker.running == 0


async def test_a_busy_worker_collects_free_slots_before_it_claims(shop: Workshop) -> None:
    """Of 32 slots two become free: the claim waits a moment for more, and so does the report."""
    shop.set(queues={"default": 32})
    events = [asyncio.Event() for _ in range(40)]

    async def wait(ctx: Context) -> None:
        await events[ctx.job_id - 1].wait()

    shop.handle(wait)
    await shop.submit(times=40)
    await shop.start()
    claims = len(shop.store.asked)
    events[0].set()
    await shop.advance(0.001)
    events[1].set()
    await shop.advance(0.001)
    assert len(shop.store.asked) == claims
    assert shop.store.reported == []
    await shop.advance(0.005)
    assert shop.store.asked[claims].limit == 2
    assert len(shop.store.reported[0]) == 2
