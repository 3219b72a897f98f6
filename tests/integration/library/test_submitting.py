"""Submitting from coroutines, threads and scripts."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import evolve

from fencepost import Context, Fencepost, InvalidInput
from fencepost.domain.errors import InvalidItem, KeyConflict
from fencepost.domain.vocabulary import State
from fencepost.entrypoints.library.job_type import JobType
from support.programs import found, names

Welcome = JobType[...]


@pytest.fixture
def send(app: Fencepost) -> Welcome:
    """A job type with one argument."""

    @app.job(queue="mail", max_attempts=8, timeout="30s")
    async def send_welcome(ctx: Context, user_id: int) -> None: ...

    return send_welcome


async def test_a_submitted_job_is_there_with_its_history(app: Fencepost, send: Welcome) -> None:
    """Type, queue, payload and the type's options are in the row; ``enqueued`` is its first event."""
    answer = await send.submit(42)
    job = await found(app, answer.job_id)
    assert (job.type, job.queue, job.max_attempts, job.state) == ("send_welcome", "mail", 8, State.PENDING)
    assert json.loads(job.payload or "") == {"user_id": 42}
    assert await names(app, answer.job_id) == ["enqueued"]
    assert answer.created


async def test_the_caller_is_named_in_the_event(app: Fencepost, send: Welcome) -> None:
    """Actor, request id and reason come from the options; without them the library is the actor."""
    told = send.options(actor="user:ann", request_id="r-1", reason="signed up")
    [event] = await app.history((await told.submit(1)).job_id)
    assert (event.actor, event.request_id, event.reason) == ("user:ann", "r-1", "signed up")
    [event] = await app.history((await send.submit(1)).job_id)
    assert event.actor == "user:library"
    assert event.request_id


async def test_synchronous_code_submits_the_same(app: Fencepost, send: Welcome) -> None:
    """``submit_sync`` works in a thread and in the very thread of a running loop."""
    in_loop = send.submit_sync(1)
    in_thread = await asyncio.to_thread(send.submit_sync, 1)
    rows = [await found(app, answer.job_id) for answer in (in_loop, in_thread, await send.submit(1))]
    assert len({(row.type, row.payload, row.queue, row.timeout, row.retry) for row in rows}) == 1


async def test_many_threads_share_an_app(app: Fencepost, send: Welcome) -> None:
    """Eight threads that begin at the same moment submit two hundred jobs, each once."""
    together = threading.Barrier(8)

    def work(thread: int) -> list[int]:
        together.wait()
        return [send.submit_sync(user_id=100 * thread + number).job_id for number in range(25)]

    with ThreadPoolExecutor(8) as pool:
        ids = {
            job for jobs in await asyncio.to_thread(lambda: list(pool.map(work, range(8)))) for job in jobs
        }
    payloads = {(await found(app, job_id)).payload for job_id in ids}
    assert len(ids) == len(payloads) == 200


async def test_many_tasks_share_a_loop(app: Fencepost, send: Welcome) -> None:
    """More tasks than connections submit at once."""
    answers = await asyncio.gather(*(send.submit(number) for number in range(100)))
    assert len({answer.job_id for answer in answers}) == 100


async def test_a_wrong_argument_writes_nothing(app: Fencepost, send: Welcome) -> None:
    """The error names the argument and is the caller's; the same from synchronous code."""
    with pytest.raises(InvalidInput) as caught:
        await send.submit("x")
    assert caught.value.field == "payload.user_id"
    with pytest.raises(InvalidInput, match=r"payload\.user_id: is missing"):
        send.submit_sync()
    assert (await send.submit(1)).job_id == 1


async def test_an_error_of_one_job_has_no_index(send: Welcome) -> None:
    """Only batches count their items."""
    with pytest.raises(InvalidInput) as caught:
        await send.options(delay="1h").options(run_at=None, priority=9).submit(2**70_000)
    assert caught.value.field.startswith("payload")
    assert not isinstance(caught.value, InvalidItem)


async def test_a_batch_is_all_or_nothing(app: Fencepost, send: Welcome) -> None:
    """Answers come in order; a bad item is named by its index and nothing is written."""
    answers = await app.submit_many([send.options(priority=number).request(number) for number in range(10)])
    rows = [await found(app, answer.job_id) for answer in answers]
    assert [row.priority for row in rows] == list(range(10))
    bad = evolve(send.request(1), payload={"user_id": float("nan")})
    with pytest.raises(InvalidItem) as caught:
        await app.submit_many([send.request(1), bad])
    assert (caught.value.index, caught.value.item_field) == (1, "payload.user_id")
    assert await app.get(answers[-1].job_id + 1) is None


async def test_an_empty_batch_is_no_work(app: Fencepost) -> None:
    """Nothing to submit is nothing wrong."""
    assert await app.submit_many([]) == []
    assert app.submit_many_sync([]) == []


async def test_synchronous_batches_work_too(app: Fencepost, send: Welcome) -> None:
    """With the paper trail of the whole call."""
    answers = app.submit_many_sync([send.request(1), send.request(2)], actor="user:ann", reason="import")
    assert [(await app.history(answer.job_id))[0].reason for answer in answers] == ["import"] * 2


async def test_many_alike_jobs_keep_their_order_and_their_own_arguments(
    app: Fencepost, send: Welcome
) -> None:
    """From coroutines and from synchronous code."""
    made = send.options(priority=7).requests({"user_id": number} for number in range(300))
    answers = [*await app.submit_many(made), *app.submit_many_sync(made)]
    for place in (0, 1, 299, 300, 599):
        row = await found(app, answers[place].job_id)
        assert (json.loads(row.payload or ""), row.priority) == ({"user_id": place % 300}, 7)


async def test_many_alike_jobs_with_one_key_are_one_job(app: Fencepost, send: Welcome) -> None:
    """A key belongs to one request: the same one again gets its answer, another one is a conflict."""
    keyed = send.options(key="welcome-all")
    first, again = await app.submit_many(keyed.requests([{"user_id": 1}] * 2))
    assert (again.job_id, again.created) == (first.job_id, False)
    with pytest.raises(KeyConflict):
        await app.submit_many(keyed.requests([{"user_id": 1}, {"user_id": 2}]))


async def test_a_batch_takes_the_options_of_the_call_itself(send: Welcome) -> None:
    """A transaction given to one request would be dropped silently: it is refused instead."""
    with pytest.raises(InvalidInput, match="tx: must be given to submit_many"):
        send.options(tx=object()).request(1)


async def test_a_key_is_answered_with_the_first_job(send: Welcome) -> None:
    """Same key and same request: the first answer, from either surface; another request is a conflict."""
    keyed = send.options(key="welcome-42")
    first = await keyed.submit(42)
    again = keyed.submit_sync(user_id=42)
    assert (again.job_id, again.created) == (first.job_id, False)
    with pytest.raises(KeyConflict):
        await keyed.submit(43)


async def test_keys_are_case_sensitive_and_kept_as_they_are(send: Welcome) -> None:
    """K and k, and two spellings of é that look alike, are different keys."""
    keys = ["K", "k", "\u00e9", "e\u0301"]
    answers = [await send.options(key=key).submit(1) for key in keys]
    assert all(answer.created for answer in answers)
