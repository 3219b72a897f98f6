"""Reports: batched, repeated until answered, and never held up by one bad one."""

import logging
from collections.abc import Sequence

import pytest

from fencepost.application.context import Context
from fencepost.domain.commands import Report, Succeed
from fencepost.domain.errors import Unavailable, UnknownOutcome
from fencepost.domain.vocabulary import State, Verdict
from support.workshop import Workshop, gate


async def number(ctx: Context) -> int:
    """Return the job's id."""
    return ctx.job_id


async def test_what_finishes_together_is_reported_together(shop: Workshop) -> None:
    """Five jobs, one statement."""
    shop.handle(number)
    await shop.submit(times=5)
    await shop.start()
    assert [len(batch) for batch in shop.store.reported] == [5]


async def test_batches_are_bounded(shop: Workshop) -> None:
    """More than a batch takes several statements, one after the other."""
    shop.set(batch=2, queues={"default": 2})
    event, wait = gate()
    shop.handle(wait)
    first = await shop.submit(times=2)
    await shop.start()
    event.set()
    await shop.submit(times=3)
    await shop.advance(1)
    assert max(len(batch) for batch in shop.store.reported) == 2
    assert {shop.state(job) for job in range(first, first + 5)} == {State.SUCCEEDED}


@pytest.mark.parametrize(("finished", "at_once"), [(3, 1), (4, 2), (9, 2)])
async def test_a_second_statement_takes_what_the_first_leaves_of_full_batches(
    shop: Workshop, finished: int, at_once: int
) -> None:
    """Never a third, and everything has its verdict in the end."""
    shop.set(batch=2, queues={"default": finished})
    event, wait = gate()
    shop.handle(wait)
    report, now, most = shop.store.report, 0, 0

    async def slow(reports: Sequence[Report]) -> Sequence[Verdict]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await shop.time.sleep(0.01)
        now -= 1
        return await report(reports)

    shop.store.report = slow  # type: ignore[method-assign]
    first = await shop.submit(times=finished)
    await shop.start()
    event.set()
    await shop.advance(1)
    assert most == at_once
    assert {shop.state(job) for job in range(first, first + finished)} == {State.SUCCEEDED}


@pytest.mark.parametrize("error", [Unavailable(), UnknownOutcome()])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_report_without_an_answer_is_repeated(shop: Workshop, error: Exception, when: str) -> None:
    """B117: Whether it was lost on the way or its reply was, the job ends exactly once."""
    shop.handle(number)
    getattr(shop.store, when)["report"].extend([error, error])
    job = await shop.submit()
    await shop.start()
    await shop.advance(5)
    assert shop.events(job) == ["enqueued", "claimed", "succeeded"]
    assert len(shop.store.reported) == 3
    assert shop.database.control_events == []


async def test_a_busy_row_is_asked_again_and_holds_up_nobody(shop: Workshop) -> None:
    """The other jobs of the batch have their verdict at once; the locked one when its row is free."""
    event, wait = gate()
    shop.handle(wait)
    first = await shop.submit(times=3)
    await shop.start()
    with shop.database.locked(first + 1):
        event.set()
        await shop.advance(3)
        assert [shop.state(first + n) for n in range(3)] == [
            State.SUCCEEDED,
            State.RUNNING,
            State.SUCCEEDED,
        ]
        assert len(shop.store.reported) < 15
    await shop.advance(1.1)
    assert shop.state(first + 1) is State.SUCCEEDED


async def test_one_report_that_cannot_be_stored_becomes_a_failure_of_its_own_job(shop: Workshop) -> None:
    """B137: The batch is split until the culprit is alone."""
    shop.set(queues={"default": 20})
    event, wait = gate()

    async def both(ctx: Context) -> int:
        await wait(ctx)
        return ctx.job_id

    shop.handle(both)
    first = await shop.submit(times=9)
    shop.store.indigestible = lambda report: isinstance(report, Succeed) and report.result == str(first + 4)
    await shop.start()
    event.set()
    await shop.advance(0)
    states = [shop.state(job) for job in range(first, first + 9) if job != first + 4]
    assert states == [State.SUCCEEDED] * 8
    assert (shop.state(first + 4), shop.error(first + 4)["type"]) == (State.PENDING, "bad_result")


async def test_a_failure_that_cannot_be_stored_either_is_left_to_the_reaper(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """Its lease is let go, and the worker goes on with other jobs."""
    shop.handle(number)
    job = await shop.submit()
    shop.store.indigestible = lambda report: report.token.job_id == job
    await shop.start()
    after = await shop.submit()
    await shop.advance(15)
    assert (shop.state(job), shop.state(after)) == (State.RUNNING, State.SUCCEEDED)
    assert shop.store.beaten == []
    assert "cannot be stored" in caplog.text


async def test_a_failure_is_one_warning_with_its_error(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """Who looks at a worker sees that a handler raised, and what; the traceback is in the history."""

    async def work(ctx: Context) -> None:
        raise ValueError("no such user")

    shop.handle(work)
    job = await shop.submit()
    with caplog.at_level(logging.WARNING):
        await shop.start()
    (record,) = caplog.records
    assert record.getMessage() == f"job {job} attempt 1 (work) failed: ValueError: no such user"


async def test_a_job_whose_row_is_gone_is_one_warning(
    shop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    """B199: The five others of the batch complete."""
    shop.set(queues={"default": 6})
    event, wait = gate()
    shop.handle(wait)
    first = await shop.submit(times=6)
    await shop.start()
    del shop.database.jobs[first + 2]
    event.set()
    with caplog.at_level(logging.WARNING):
        await shop.advance(1)
    assert {shop.state(first + n) for n in (0, 1, 3, 4, 5)} == {State.SUCCEEDED}
    assert len(caplog.records) == 1
    assert "gone" in caplog.text


async def test_a_finished_job_goes_on_heartbeating_until_its_verdict(shop: Workshop) -> None:
    """While the report is repeated the lease does not run out."""
    shop.handle(number)
    shop.store.away.add("report")
    job = await shop.submit()
    await shop.start()
    await shop.advance(65)
    lease = shop.job(job).lease_expires_at
    assert lease is not None
    assert lease > shop.time.wall()
    shop.store.away.clear()
    await shop.advance(5)
    assert shop.state(job) is State.SUCCEEDED
