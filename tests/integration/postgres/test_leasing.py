"""Leases, heartbeats and the reaper: races of two sessions, decided by rows and clocks of the database."""

import asyncio
from datetime import timedelta

import psycopg
import pytest

from fencepost.domain.commands import Cancel, Fail, JobError, Succeed
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.figures import Note
from support.polling import eventually
from support.rig import USER, WORKER, Rig, submission, success

SHORT = timedelta(milliseconds=100)
HELD = "SELECT FROM fencepost.jobs WHERE lease_expires_at > clock_timestamp()"
GONE = """
INSERT INTO fencepost.jobs (type, queue, priority, run_at, max_attempts, lease, submitted_at, retry, seq, attempt,
    state, claim_id, worker, lease_expires_at)
SELECT type, queue, priority, run_at, max_attempts, lease, submitted_at, retry, 2, 1,
    'running', gen_random_uuid(), 'worker:gone', run_at
FROM fencepost.jobs, generate_series(1, 70000)
"""
COUNTERS = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'jobs'"
DRAWS = [0.5] * 1_000


async def lapsed(rig: Rig) -> Token:
    """A job whose lease has run out without anybody noticing."""
    await rig.submit(submission(lease=SHORT))
    [token] = await rig.claim()
    await all_lapsed(rig)
    return token


async def all_lapsed(rig: Rig) -> None:
    """Wait until the last lease has run out."""

    def none_held() -> bool:
        with psycopg.connect(rig.dsn) as connection:
            return connection.execute(HELD).rowcount == 0

    await asyncio.to_thread(eventually, none_held)


async def names(rig: Rig, job_id: int) -> list[str]:
    """The names of a job's events."""
    return [event.name for event in await rig.log.history(job_id)]


async def test_a_reap_that_waits_behind_a_success_changes_nothing(rig: Rig) -> None:
    """B073: the worker's report holds the row when the reaper comes; the job ends once, succeeded."""
    token = await lapsed(rig)
    async with await psycopg.AsyncConnection.connect(rig.dsn) as other:
        await other.execute("SELECT FROM fencepost.jobs WHERE job_id = %s FOR UPDATE", [token.job_id])
        assert await rig.jobs.reap(10, DRAWS) == 0
    assert await rig.jobs.report([success(token)()]) == [Verdict.ACCEPTED]
    assert await rig.jobs.reap(10, DRAWS) == 0
    assert await names(rig, token.job_id) == ["enqueued", "claimed", "succeeded"]


async def test_racing_reapers_and_reports_end_an_attempt_once(rig: Rig) -> None:
    """B073, B074: whoever comes first ends it, the other changes nothing; no lease granted since is touched."""
    for _ in range(20):
        token = await lapsed(rig)
        verdicts, *reaped = await asyncio.gather(
            rig.jobs.report([success(token)()]), rig.jobs.reap(10, DRAWS), rig.jobs.reap(10, DRAWS)
        )
        if verdicts == [Verdict.BUSY]:
            verdicts = await rig.jobs.report([success(token)()])
        ended = (await names(rig, token.job_id))[2:]
        assert ended in (["succeeded"], ["lease_expired"])
        assert (verdicts == [Verdict.ACCEPTED]) is (ended == ["succeeded"])
        assert sum(reaped) == (ended == ["lease_expired"])
        for again in await rig.claim(10):
            assert await rig.jobs.report([success(again)()]) == [Verdict.ACCEPTED]
            assert await rig.jobs.reap(10, DRAWS) == 0


async def test_attempt_numbers_never_come_back(rig: Rig) -> None:
    """B076: after expiry and failure the numbers are 1, 2, 3; what attempts 1 and 2 say then is refused."""
    tokens = [await lapsed(rig)]
    assert await rig.jobs.reap(10, DRAWS) == 1
    tokens += await rig.claim()
    again = Fail(origin=WORKER, token=tokens[1], error=JobError("E"), retry_in=timedelta(0))
    assert await rig.jobs.report([again]) == [Verdict.ACCEPTED]
    tokens += await rig.claim()
    assert [token.attempt for token in tokens] == [1, 2, 3]
    before = await rig.log.history(1)
    for stale in tokens[:2]:
        assert await rig.jobs.report([success(stale)()]) == [Verdict.REFUSED]
    assert await rig.log.history(1) == before
    assert [event.data["attempt"] for event in await rig.log.evidence(1)] == [1, 2]


async def test_locked_rows_hide_no_others_from_the_reaper(rig: Rig) -> None:
    """B089: 150 lapsed leases are locked, 10 behind them are free; batches of 100 reach those at once."""
    await rig.submit(*[submission(lease=SHORT) for _ in range(160)])
    assert len(await rig.claim(160)) == 160
    await all_lapsed(rig)
    async with await psycopg.AsyncConnection.connect(rig.dsn) as other:
        await other.execute("SELECT FROM fencepost.jobs WHERE job_id <= 150 FOR UPDATE")
        assert await rig.jobs.reap(100, DRAWS) == 10
    assert await rig.jobs.reap(100, DRAWS) == 100


async def test_a_lease_counts_from_when_the_row_was_locked(rig: Rig) -> None:
    """B094: a claim held up by a lock on its queue gets its whole lease, however old its transaction is."""
    await rig.submit(submission(lease=timedelta(seconds=2)))
    await rig.queues.register(["default"])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as other:
        await other.execute("SELECT FROM fencepost.queues FOR UPDATE")
        claim = asyncio.create_task(rig.claim())
        await rig.waiting()
        await other.execute("SELECT pg_sleep(1)")
        await other.commit()
        [token] = await claim
    [(remaining,)] = await rig.ask("SELECT lease_expires_at - clock_timestamp() FROM fencepost.jobs")
    assert remaining > timedelta(seconds=1.5)
    assert (await rig.jobs.heartbeat([token]))[0].verdict is Verdict.ACCEPTED


async def test_batches_in_opposite_order_never_deadlock(rig: Rig) -> None:
    """B101: reports and heartbeats of the same jobs, one batch ascending, one descending, in 50 rounds."""
    await rig.submit(*[submission() for _ in range(50)])
    tokens = await rig.claim(50)
    for _ in range(50):
        answers = await asyncio.gather(rig.jobs.heartbeat(tokens), rig.jobs.heartbeat(tokens[::-1]))
        assert {a.verdict for many in answers for a in many} <= {Verdict.ACCEPTED, Verdict.BUSY}
    reports = [success(token)() for token in tokens]
    while any(v is Verdict.BUSY for v in (await _both_ways(rig, reports))):
        pass
    assert {(await rig.job(token.job_id)).state for token in tokens} == {State.SUCCEEDED}


async def _both_ways(rig: Rig, reports: list[Succeed]) -> list[Verdict]:
    answers = await asyncio.gather(rig.jobs.report(reports), rig.jobs.report(reports[::-1]))
    return [verdict for many in answers for verdict in many]


async def test_a_locked_row_is_busy_and_holds_up_no_other(rig: Rig) -> None:
    """B108: somebody's open transaction locks one of 51 jobs; the others are claimed and finish meanwhile."""
    await rig.submit(*[submission() for _ in range(51)])
    async with await psycopg.AsyncConnection.connect(rig.dsn) as human:
        await human.execute("SELECT FROM fencepost.jobs WHERE job_id = 7 FOR UPDATE")
        tokens = await rig.claim(51)
        assert len(tokens) == 50
        await human.execute("SELECT FROM fencepost.jobs WHERE job_id = 8 FOR UPDATE")
        verdicts = dict(zip(tokens, await rig.jobs.report([success(t)() for t in tokens]), strict=True))
        answers = dict(zip(tokens, await rig.jobs.heartbeat(tokens), strict=True))
    [locked] = [token for token, verdict in verdicts.items() if verdict is not Verdict.ACCEPTED]
    assert (locked.job_id, verdicts[locked], answers[locked].verdict) == (8, Verdict.BUSY, Verdict.BUSY)
    assert await rig.jobs.report([success(locked)()]) == [Verdict.ACCEPTED]
    assert [token.job_id for token in await rig.claim()] == [7]


@pytest.mark.unproven("rows without events stand in for 70,000 submits and claims")
@pytest.mark.timeout(300)
async def test_seventy_thousand_lapsed_leases_are_reaped(rig: Rig, note: Note) -> None:
    """B123: however many there are, no statement has a parameter for each."""
    await rig.submit(submission())
    await rig.ask(GONE)
    reaped = 0
    while batch := await rig.jobs.reap(10_000, [0.5] * 10_000):
        reaped += batch
    assert reaped == 70_000
    note(f"reaped {reaped:,} lapsed leases in batches of 10,000")


async def test_heartbeats_rewrite_no_index(rig: Rig, note: Note) -> None:
    """B125: at least nine in ten updates are heap-only, of 40 rounds for 50 jobs, a fifth of them asked to stop."""
    await rig.submit(*[submission() for _ in range(50)])
    tokens = await rig.claim(50)
    await rig.database.close()  # a session hands in its figures at the latest when it ends
    before, hot_before = await counted(rig, 50)
    for number in range(40):
        assert all(answer.verdict is Verdict.ACCEPTED for answer in await rig.jobs.heartbeat(tokens))
        if number % 4 == 0:
            [verdict] = await rig.jobs.operate([tokens[number].job_id], Cancel(origin=USER))
            assert verdict is Verdict.ACCEPTED
    await rig.database.close()
    updates, hot = await counted(rig, before + 2_010)
    share = (hot - hot_before) / (updates - before)
    note(f"share of heap-only updates among heartbeats: {share:.3f}")
    assert share >= 0.9


async def counted(rig: Rig, least: int) -> tuple[int, int]:
    """The updates of jobs the server has counted, and the heap-only ones, once there are enough."""

    def enough() -> tuple[int, int] | None:
        with psycopg.connect(rig.dsn) as connection:
            [(updates, hot)] = connection.execute(COUNTERS).fetchall()
        return (updates, hot) if updates >= least else None

    found = await asyncio.to_thread(eventually, enough)
    assert found is not None
    return found
