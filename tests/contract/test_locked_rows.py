"""A row locked by somebody else is busy, and holds up nobody but itself."""

from datetime import timedelta

from fencepost.domain import commands as c
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State, Verdict
from support.asking import claim, submit
from support.crowd import OPERATOR, WORKER
from support.stores import Clock, Stores

BUSY, ACCEPTED = Verdict.BUSY, Verdict.ACCEPTED


async def _running(stores: Stores, number: int = 3) -> list[Token]:
    for _ in range(number):
        await submit(stores)
    return [job.token for job in (await claim(stores)).jobs]


async def _states(stores: Stores, tokens: list[Token]) -> list[State]:
    jobs = [await stores.reader.get(token.job_id) for token in tokens]
    return [job.state for job in jobs if job is not None]


async def test_a_claim_passes_over_a_locked_row(stores: Stores) -> None:
    """B108: The locked job stays pending and is claimed once the lock is gone; its neighbours go at once."""
    ids = [(await submit(stores)).job_id for _ in range(3)]
    async with stores.held_by_another(ids[1]):
        claimed = await claim(stores)
        assert [job.token.job_id for job in claimed.jobs] == [ids[0], ids[2]]
        assert (await claim(stores)).jobs == []
    assert [job.token.job_id for job in (await claim(stores)).jobs] == [ids[1]]


async def test_a_report_on_a_locked_row_is_busy(stores: Stores) -> None:
    """Busy means ask again: the others of the batch are applied, and so is this one later."""
    tokens = await _running(stores)
    reports = [c.Succeed(origin=WORKER, token=token) for token in tokens]
    async with stores.held_by_another(tokens[1].job_id):
        assert list(await stores.jobs.report(reports)) == [ACCEPTED, BUSY, ACCEPTED]
        assert await _states(stores, tokens) == [State.SUCCEEDED, State.RUNNING, State.SUCCEEDED]
    already = Verdict.ALREADY_APPLIED
    assert list(await stores.jobs.report(reports)) == [already, ACCEPTED, already]


async def test_a_zombies_report_on_a_locked_row_is_busy_and_leaves_no_evidence(
    stores: Stores, clock: Clock
) -> None:
    """What a locked row will say is unknown: the judgement waits, too."""
    (token,) = await _running(stores, 1)
    clock.advance(timedelta(seconds=31))
    await stores.jobs.reap(1, [0.0])
    report = c.Succeed(origin=WORKER, token=token)
    async with stores.held_by_another(token.job_id):
        assert list(await stores.jobs.report([report])) == [BUSY]
        assert list(await stores.log.evidence(token.job_id)) == []
    assert list(await stores.jobs.report([report])) == [Verdict.REFUSED]
    assert len(await stores.log.evidence(token.job_id)) == 1


async def test_a_heartbeat_on_a_locked_row_is_busy_not_lost(stores: Stores, clock: Clock) -> None:
    """The lease is not extended this time, and the holder is not told that it lost it."""
    tokens = await _running(stores)
    clock.advance(timedelta(seconds=10))
    async with stores.held_by_another(tokens[1].job_id):
        answers = await stores.jobs.heartbeat(tokens)
        assert [answer.verdict for answer in answers] == [ACCEPTED, BUSY, ACCEPTED]
    jobs = [await stores.reader.get(token.job_id) for token in tokens]
    assert [job.heartbeats for job in jobs if job is not None] == [1, 0, 1]
    assert [answer.verdict for answer in await stores.jobs.heartbeat(tokens)] == [ACCEPTED] * 3


async def test_the_reaper_passes_over_a_locked_row(stores: Stores, clock: Clock) -> None:
    """A locked row does not use up the reaper's limit, and is reaped later."""
    tokens = await _running(stores)
    clock.advance(timedelta(seconds=31))
    async with stores.held_by_another(tokens[0].job_id):
        assert await stores.jobs.reap(2, [0.0, 0.0]) == 2
        assert await _states(stores, tokens) == [State.RUNNING, State.PENDING, State.PENDING]
        assert await stores.jobs.reap(2, [0.0, 0.0]) == 0
    assert await stores.jobs.reap(2, [0.0, 0.0]) == 1


async def test_an_operation_on_a_locked_row_is_busy(stores: Stores) -> None:
    """The other jobs of the list are operated on."""
    ids = [(await submit(stores)).job_id for _ in range(3)]
    async with stores.held_by_another(ids[0]):
        verdicts = await stores.jobs.operate(ids, c.Cancel(origin=OPERATOR))
        assert list(verdicts) == [BUSY, ACCEPTED, ACCEPTED]
    assert list(await stores.jobs.operate(ids[:1], c.Cancel(origin=OPERATOR))) == [ACCEPTED]


async def test_other_jobs_do_not_wait_for_a_locked_row(stores: Stores) -> None:
    """Submitting, reading and the history go on while a row is locked."""
    first = await submit(stores)
    async with stores.held_by_another(first.job_id):
        second = await submit(stores)
        assert await stores.reader.get(first.job_id) is not None
        assert len(await stores.log.history(second.job_id)) == 1
