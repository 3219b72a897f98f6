"""What a handler sees of its job, and its own transaction."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from fencepost.application.context import Context
from fencepost.domain.commands import Revoke
from fencepost.domain.errors import InvalidInput, LeaseLost
from fencepost.domain.vocabulary import State
from support.workshop import USER, Workshop


async def look(shop: Workshop, read: Callable[[Context], Any], **specification: Any) -> Any:
    """Run one job and return what its handler read from the context."""
    seen: list[Any] = []

    async def work(ctx: Context) -> None:
        seen.append(read(ctx))

    shop.handle(work)
    await shop.submit(**specification)
    await shop.start()
    return seen[0]


async def test_the_context_names_the_job_and_the_attempt(shop: Workshop) -> None:
    """Identity, queue and counters are those of the claim."""
    seen = await look(shop, lambda c: (c.job_id, c.type, c.queue, c.attempt, c.failures, c.token))
    assert seen == (1, "work", "default", 1, 0, (1, 1))


async def test_the_idempotency_key_is_the_submitters_or_derived(shop: Workshop) -> None:
    """It is stable over attempts, while the token grows."""
    seen: list[tuple[str, tuple[int, int]]] = []

    async def work(ctx: Context) -> None:
        seen.append((ctx.idempotency_key, ctx.token))
        if ctx.attempt == 1:
            raise ValueError

    shop.handle(work)
    await shop.submit()
    await shop.submit(effect_key="order-7")
    await shop.start()
    await shop.advance(20)
    assert seen == [("job-1", (1, 1)), ("order-7", (2, 1)), ("job-1", (1, 2)), ("order-7", (2, 2))]


async def test_scheduled_for_is_when_the_job_was_due(shop: Workshop) -> None:
    """Also when it started later."""
    due = await look(shop, lambda ctx: ctx.scheduled_for)
    assert due == shop.database.job_events[1][0].run_at


async def test_the_deadline_is_the_timeout_from_the_start(shop: Workshop) -> None:
    """As a moment of this machine's clock."""
    deadline = await look(shop, lambda ctx: ctx.deadline, timeout=timedelta(seconds=90))
    assert deadline == shop.time.wall() + timedelta(seconds=90)


async def test_without_a_timeout_there_is_no_deadline(shop: Workshop) -> None:
    """None means none."""
    assert await look(shop, lambda ctx: ctx.deadline, timeout=None) is None


async def test_the_log_is_bound_to_the_attempt(shop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    """Each line says which job, type and attempt it is about; the bound logger is made once."""
    with caplog.at_level(logging.INFO, "fencepost.job"):
        same = await look(shop, lambda ctx: (ctx.log.info("hello", colour="red"), ctx.log is ctx.log)[1])
    (record,) = caplog.records
    assert same
    assert record.getMessage() == "hello"
    bound = {name: getattr(record, name) for name in ("job_id", "type", "attempt", "colour")}
    assert bound == {"job_id": 1, "type": "work", "attempt": 1, "colour": "red"}


async def test_a_heartbeat_by_hand_extends_the_lease_now(shop: Workshop) -> None:
    """Nine seconds into the job, before the worker's own heartbeat."""
    ready, go = asyncio.Event(), asyncio.Event()

    async def work(ctx: Context) -> None:
        await ready.wait()
        await ctx.heartbeat()
        await go.wait()

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    await shop.advance(9)
    ready.set()
    await shop.advance(0)
    assert shop.job(job).lease_expires_at == shop.time.wall() + timedelta(seconds=30)


async def test_a_heartbeat_by_hand_says_when_the_lease_is_lost(shop: Workshop) -> None:
    """The handler hears it as an exception, and the job is dropped without a report."""
    heard: list[LeaseLost] = []
    ready = asyncio.Event()

    async def work(ctx: Context) -> None:
        await ready.wait()
        try:
            await ctx.heartbeat()
        except LeaseLost as error:
            heard.append(error)
            raise

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    await shop.store.operate([job], Revoke(origin=USER, cancel=True))
    ready.set()
    await shop.advance(0)
    assert len(heard) == 1
    assert (shop.events(job)[-1], shop.store.reported) == ("revoked", [])


async def test_a_heartbeat_by_hand_forgives_an_outage_while_the_lease_lasts(shop: Workshop) -> None:
    """The database is away for a moment: that is no reason to fail the handler."""

    async def work(ctx: Context) -> str:
        await ctx.heartbeat()
        return "went on"

    shop.handle(work)
    shop.store.away.add("heartbeat")
    job = await shop.submit()
    await shop.start()
    assert shop.job(job).result == '"went on"'


async def test_a_transaction_completes_the_job_with_the_handlers_own_writes(shop: Workshop) -> None:
    """After the block nothing more is reported, whatever happens later."""

    async def work(ctx: Context) -> str:
        async with ctx.transaction() as writes:
            writes.append("row")
            ctx.set_result({"rows": 1})
        raise ValueError("too late to matter")

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    assert (shop.state(job), shop.job(job).result) == (State.SUCCEEDED, '{"rows":1}')
    assert shop.database.writes == ["row"]
    assert shop.store.reported == []
    await shop.advance(60)
    assert shop.store.beaten == []


async def test_an_exception_inside_the_transaction_keeps_nothing(shop: Workshop) -> None:
    """The writes are rolled back and the attempt has failed."""

    async def work(ctx: Context) -> None:
        async with ctx.transaction() as writes:
            writes.append("row")
            raise ValueError("no")

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    assert (shop.database.writes, shop.error(job)["message"]) == ([], "no")


async def test_a_transaction_under_a_lost_lease_keeps_nothing(shop: Workshop) -> None:
    """LeaseLost is raised when the block is left; the job is dropped."""
    ready = asyncio.Event()

    async def work(ctx: Context) -> None:
        async with ctx.transaction() as writes:
            writes.append("row")
            await ready.wait()

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    await shop.store.operate([job], Revoke(origin=USER, cancel=True))
    ready.set()
    await shop.advance(0)
    assert (shop.database.writes, shop.events(job)[-1]) == ([], "revoked")
    assert shop.store.reported == []


async def test_a_result_that_is_no_json_is_refused_where_it_is_set(shop: Workshop) -> None:
    """The handler sees the error, inside its transaction."""

    async def work(ctx: Context) -> None:
        with pytest.raises(InvalidInput):
            ctx.set_result({1, 2})
        ctx.set_result([1, 2])

    shop.handle(work)
    job = await shop.submit()
    await shop.start()
    assert shop.job(job).result == "[1,2]"
