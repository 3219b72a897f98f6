"""Pausing a queue while claims are under way."""

import asyncio
import threading

import psycopg
import pytest

from fencepost.adapters.postgres import queue_store
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.commands import Origin
from fencepost.domain.errors import UnknownOutcome
from fencepost.domain.vocabulary import ControlEventName, Verdict
from support.polling import eventually
from support.rig import QUEUE, USER, Rig, submission

# What a claim does to its queue's row before anything else.
LOOK = "SELECT FROM fencepost.queues WHERE name = 'default' AND paused_at IS NULL FOR KEY SHARE"


async def said(rig: Rig) -> list[str]:
    """The names of what the log says about the queue."""
    return [event.name for event in await rig.log.page(LogFilter(subject=f"queue:{QUEUE}"))]


async def test_a_paused_queue_gives_no_jobs_until_it_is_resumed(rig: Rig) -> None:
    """Pause, claim in vain, resume, claim; all of it in the log with who and why."""
    await rig.submit(submission())
    assert await rig.queues.pause(QUEUE, USER) is Verdict.ACCEPTED
    assert await rig.claim() == []
    assert await rig.queues.resume(QUEUE, USER) is Verdict.ACCEPTED
    assert len(await rig.claim()) == 1
    events = await rig.log.page(LogFilter(subject=f"queue:{QUEUE}"))
    assert [event.name for event in events] == ["queue_pausing", "queue_paused", "queue_resumed"]
    assert {(event.actor, event.request_id, event.reason) for event in events} == {
        (USER.actor, USER.request_id, USER.reason)
    }


async def test_the_answer_to_a_pause_comes_when_earlier_claims_are_over(rig: Rig) -> None:
    """The pause binds new claims at once; ``queue_paused`` is written once the claim under way has ended."""
    await rig.submit(submission())
    await rig.queues.register([QUEUE])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as earlier:
        await earlier.execute(LOOK)
        pause = asyncio.create_task(rig.queues.pause(QUEUE, USER))
        await rig.waiting()
        assert await said(rig) == ["queue_pausing"]
        assert await rig.claim() == []
        assert not pause.done()
        await earlier.commit()
    assert await pause is Verdict.ACCEPTED
    assert await said(rig) == ["queue_pausing", "queue_paused"]


async def test_a_claim_that_began_before_a_pause_but_locks_after_it_claims_nothing(rig: Rig) -> None:
    """Its snapshot says the queue is open; when it gets to the queue's row, it is made to see the pause."""
    await rig.queues.register([QUEUE])
    late = LOOK.replace(
        "FROM fencepost.queues", "FROM fencepost.queues, (SELECT pg_advisory_xact_lock(4)) AS delay"
    )
    async with (
        await psycopg.AsyncConnection.connect(rig.dsn) as gate,
        await psycopg.AsyncConnection.connect(rig.dsn) as claiming,
    ):
        await gate.execute("SELECT pg_advisory_xact_lock(4)")
        look = asyncio.create_task(claiming.execute(late.replace("KEY SHARE", "KEY SHARE OF queues")))
        await rig.waiting()
        assert await rig.queues.pause(QUEUE, USER) is Verdict.ACCEPTED
        await gate.commit()
        assert await (await look).fetchall() == []


async def test_an_endless_stream_of_claims_does_not_hold_up_a_pause(rig: Rig) -> None:
    """Claims that overlap without a gap would starve a pause that had to wait for a moment without any."""
    await rig.queues.register([QUEUE])
    ended, looks = threading.Event(), [0]

    def claim_all_the_time() -> None:
        with psycopg.connect(rig.dsn) as connection:
            while not ended.is_set():
                looks[0] += len(connection.execute(LOOK).fetchall())
                ended.wait(0.01)  # the rest of the claim
                connection.commit()

    threads = [threading.Thread(target=claim_all_the_time) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        await asyncio.to_thread(eventually, lambda: looks[0] > 50)
        async with asyncio.timeout(3):
            assert await rig.queues.pause(QUEUE, USER) is Verdict.ACCEPTED
    finally:
        ended.set()
        for thread in threads:
            thread.join()


async def test_the_claim_looks_at_its_queue_as_these_tests_do(rig: Rig) -> None:
    """While a claim has not committed, its queue's row can be paused but not locked FOR UPDATE."""
    [answer] = await rig.submit(submission())
    await rig.queues.register([QUEUE])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as holder:
        # The claim stops between its look at the queue and its end: somebody is about to write the same event.
        await holder.execute(
            "INSERT INTO fencepost.job_events (job_id, seq, attempt, failures, name, state, at, actor)"
            " VALUES (%s, 2, 1, 0, 'claimed', 'running', clock_timestamp(), 'nobody')",
            [answer.job_id],
        )
        claim = asyncio.create_task(rig.claim())
        await rig.waiting()
        await rig.ask("UPDATE fencepost.queues SET paused_at = NULL WHERE name = 'default'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            await rig.ask("SELECT FROM fencepost.queues WHERE name = 'default' FOR UPDATE NOWAIT")
        await holder.rollback()
    assert len(await claim) == 1


async def test_pausing_again_completes_a_pause_whose_caller_went_away(rig: Rig) -> None:
    """A caller died between its two transactions: the next pause writes the ``queue_paused`` that is missing."""
    await rig.database.run(lambda: rig.queues._pausing(QUEUE, USER))
    assert await said(rig) == ["queue_pausing"]
    assert await rig.queues.pause(QUEUE, Origin("user:other", "request-2")) is Verdict.ALREADY_APPLIED
    assert await rig.queues.pause(QUEUE, Origin("user:other", "request-2")) is Verdict.ALREADY_APPLIED
    assert await said(rig) == ["queue_pausing", "queue_paused"]


async def test_many_pauses_and_resumes_leave_a_history_that_alternates(rig: Rig) -> None:
    """Whatever the race, each accepted pause and resume has its event, and they take turns."""
    operations = (rig.queues.pause, rig.queues.resume) * 10
    verdicts = await asyncio.gather(*(operation(QUEUE, USER) for operation in operations))
    history = [name for name in await said(rig) if name != ControlEventName.QUEUE_PAUSED]
    assert len(history) == verdicts.count(Verdict.ACCEPTED)
    assert history == [("queue_pausing", "queue_resumed")[turn % 2] for turn in range(len(history))]


async def test_an_earlier_claim_that_never_ends_is_not_called_a_success(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause is there, but its promise is not: the caller hears UnknownOutcome and may ask again."""
    monkeypatch.setattr(queue_store, "PATIENCE", 1)
    await rig.queues.register([QUEUE])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as earlier:
        await earlier.execute(LOOK)
        with pytest.raises(UnknownOutcome, match="earlier claim"):
            await rig.queues.pause(QUEUE, USER)
        await earlier.rollback()
    assert await said(rig) == ["queue_pausing"]
    assert await rig.queues.pause(QUEUE, USER) is Verdict.ALREADY_APPLIED
    assert await said(rig) == ["queue_pausing", "queue_paused"]


async def test_queues_are_listed_with_what_is_in_them(rig: Rig) -> None:
    """Registered ones and those that only unfinished jobs know, with exact counts."""
    await rig.queues.register(["empty", QUEUE])
    await rig.submit(*(submission() for _ in range(3)), submission(queue="unknown"))
    await rig.claim()
    listed = [(queue.name, queue.pending, queue.due, queue.running) for queue in await rig.queues.list()]
    assert listed == [(QUEUE, 2, 2, 1), ("empty", 0, 0, 0), ("unknown", 1, 1, 0)]
