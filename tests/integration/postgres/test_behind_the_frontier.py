"""Jobs behind a worker's frontier: passed over until the next full scan, which finds them all."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from fencepost.adapters.postgres import claiming
from fencepost.adapters.postgres.frontier import MARGIN
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.commands import Cancel, Edit, Fail, JobError, Release, Requeue, Revoke
from fencepost.domain.vocabulary import Verdict
from support.frontiers import SECOND, Arena, Claimer, arena_over
from support.rig import QUEUE, USER, WORKER, submission, waiting

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
Way = Callable[[Arena, Claimer], Awaitable[int]]


async def committed_late(arena: Arena, claimer: Claimer) -> int:
    """The caller's transaction commits after the frontier has gone past the job's run_at."""
    with arena.late() as [job_id]:
        await arena.pass_by(claimer)
    return job_id


async def back_dated(arena: Arena, claimer: Claimer) -> int:
    """The job is submitted with a run_at in the past."""
    await arena.pass_by(claimer)
    return await arena.submit(run_at=arena.clock.now - 60 * SECOND)


async def edited(arena: Arena, claimer: Claimer) -> int:
    """A delayed job is moved to a moment in the past."""
    job_id = await arena.submit(delay=3600 * SECOND)
    await arena.pass_by(claimer)
    await arena.operate(job_id, Edit(origin=USER, run_at=arena.clock.now - 60 * SECOND))
    return job_id


async def of_another_priority(arena: Arena, claimer: Claimer) -> int:
    """A job that waits on a low level is moved to a high one, which has been walked past its run_at."""
    job_id = await arena.submit(priority=1)
    arena.clock.advance(SECOND)
    higher = await arena.submit(priority=9)
    assert await claimer.claim(1) == [higher]
    await arena.operate(job_id, Edit(origin=USER, priority=9))
    await arena.pass_by(claimer)
    return job_id


async def released(arena: Arena, claimer: Claimer) -> int:
    """A worker hands the job back unfinished; its run_at stays."""
    job_id = await arena.submit()
    assert await claimer.claim() == [job_id]
    await arena.pass_by(claimer)
    report = Release(origin=WORKER, token=claimer.tokens[-1])
    assert await claimer.store.report([report]) == [Verdict.ACCEPTED]
    return job_id


async def locked(arena: Arena, claimer: Claimer) -> int:
    """Somebody held the row's lock when the frontier went past."""
    job_id = await arena.submit()
    with arena.held([job_id]):
        await arena.pass_by(claimer)
    return job_id


async def claimed_and_rolled_back(arena: Arena, claimer: Claimer) -> int:
    """Another worker's claim of the job did not commit."""
    job_id = await arena.submit()
    request = ClaimRequest(
        queue=QUEUE,
        types=frozenset({"work"}),
        limit=10,
        claim_id="00000000-0000-4000-8000-000000000000",
        origin=WORKER,
    )
    query = claiming.claim_query("fencepost", request, arena.clock.now)
    with psycopg.connect(arena.dsn) as other:
        assert other.execute(query.statement.sql.encode(), query.values).rowcount == 2
        await arena.pass_by(claimer)
        other.rollback()
    return job_id


WAYS = (committed_late, back_dated, edited, of_another_priority, released, locked, claimed_and_rolled_back)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_a_full_scan_finds_what_a_frontier_scan_does_not(arena: Arena, way: Way) -> None:
    """However a job came behind the frontier, it is passed over until the next full scan, and claimed by that."""
    claimer = await arena.claimer()
    job_id = await way(arena, claimer)
    assert await claimer.claim() == []
    assert await claimer.full() == [job_id]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_another_worker_finds_it_by_its_own_full_scan(arena: Arena, way: Way) -> None:
    """What one worker has gone past is not lost to a worker that comes new."""
    claimer = await arena.claimer()
    job_id = await way(arena, claimer)
    assert await Claimer(arena.database).claim() == [job_id]
    assert await claimer.full() == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_nothing_behind_the_frontier_waits_for_the_poll(arena: Arena, way: Way) -> None:
    """A frontier scan that came back short asks to be repeated when the full scan is due, and not before."""
    claimer = await arena.claimer()
    await way(arena, claimer)
    answer = await claimer.ask()
    assert answer.next_due_in is not None
    claimer.seconds.now += answer.next_due_in.total_seconds() * (1 - 1e-6)
    assert await claimer.claim() == []
    claimer.seconds.now += answer.next_due_in.total_seconds() * 2e-6
    assert len(await claimer.claim()) == 1


async def test_after_a_full_scan_there_is_nothing_to_come_back_for(arena: Arena) -> None:
    """It has seen everything: the next look is at the poll, or when the next job is due."""
    claimer = await arena.claimer()
    claimer.seconds.now += 1e12
    assert (await claimer.ask()).next_due_in is None
    await arena.submit(delay=5 * SECOND)
    claimer.seconds.now += 1e12
    assert (await claimer.ask()).next_due_in == 5 * SECOND


@pytest.mark.parametrize("back", ["requeued", "revoked", "failed"])
async def test_jobs_that_are_due_anew_are_never_behind(arena: Arena, back: str) -> None:
    """A requeue, a revoke and a retry set run_at to the clock: the next frontier scan finds the job."""
    claimer = await arena.claimer()
    job_id = await arena.submit()
    assert await claimer.claim() == [job_id]
    [token] = claimer.tokens
    await arena.pass_by(claimer)
    if back == "revoked":
        await arena.operate(job_id, Revoke(origin=USER))
    else:
        retry_in = timedelta(0) if back == "failed" else None
        last = JobError("E")
        fail = Fail(origin=WORKER, token=token, error=last, retry_in=retry_in)
        await claimer.store.report([fail])
    if back == "requeued":
        await arena.operate(job_id, Cancel(origin=USER))
        await arena.operate(job_id, Requeue(origin=USER))
    assert await claimer.claim() == [job_id]


async def test_a_job_submitted_now_is_never_behind_the_margin(arena: Arena) -> None:
    """It becomes visible some milliseconds after its run_at; the frontier stays that much behind the clock."""
    claimer = await arena.claimer()
    with arena.late() as [just_in_time]:
        arena.clock.advance(MARGIN)
        assert await claimer.claim() == []
    assert await claimer.claim() == [just_in_time]


async def test_more_than_one_batch_behind_the_frontier_follows_from_one_full_scan(arena: Arena) -> None:
    """The frontier goes back to where the full scan stopped, so that the rest needs no full scan."""
    claimer = await arena.claimer()
    with arena.late(*[submission(priority=priority) for priority in (4, 4, 4, 8, 8)]) as ids:
        await arena.pass_by(claimer)
    assert await claimer.full(3) == [ids[3], ids[4], ids[0]]
    assert await claimer.claim(3) == [ids[1], ids[2]]


async def test_a_paused_queue_moves_no_frontier(arena: Arena) -> None:
    """What came while it was paused is claimed after the resume, without a full scan."""
    claimer = await arena.claimer()
    await arena.queues.pause(QUEUE, USER)
    job_id = await arena.submit()
    arena.clock.advance(SECOND)
    answer = await claimer.ask()
    assert (list(answer.jobs), answer.next_due_in) == ([], None)
    await arena.queues.resume(QUEUE, USER)
    assert await claimer.claim() == [job_id]


async def test_what_is_submitted_while_a_claim_waits_for_a_lock_is_not_behind(arena: Arena) -> None:
    """The claim's snapshot is older than its clock: until the snapshot, and no further, the frontier may move."""
    async with arena_over(arena.dsn) as real:
        claimer = await real.claimer()
        with psycopg.connect(arena.dsn) as pauser:
            pauser.execute("SELECT FROM fencepost.queues FOR UPDATE")
            claim = asyncio.create_task(claimer.claim())
            await waiting(arena.dsn)
            job_id = await real.submit()
            pauser.execute("SELECT pg_sleep(%s)", [2 * MARGIN.total_seconds()])
        assert await claim == []
        assert await claimer.claim() == [job_id]


async def test_time_spent_waiting_for_a_lock_is_not_the_scans(arena: Arena) -> None:
    """A full scan of an empty queue that waited for a pause does not put off the next one."""
    async with arena_over(arena.dsn) as real:
        claimer = Claimer(real.database, share=0.5)
        await real.queues.register([QUEUE])
        with psycopg.connect(arena.dsn) as pauser:
            pauser.execute("SELECT FROM fencepost.queues FOR UPDATE")
            claim = asyncio.create_task(claimer.claim())
            await waiting(arena.dsn)
            pauser.execute("SELECT pg_sleep(1)")
        assert await claim == []
        job_id = await real.submit(run_at=LONG_AGO)
        claimer.seconds.now += 0.9
        assert await claimer.claim() == [job_id]
