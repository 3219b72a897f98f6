"""The cap on snoozes and releases, lived through to the end."""

from datetime import timedelta

import pytest

from fencepost.domain import commands as c
from fencepost.domain.invariants import check
from fencepost.domain.job import Specification
from fencepost.domain.limits import IDLE_RETURNS
from support.crowd import WORKER, Crowd
from support.stores import Clock, Lockstep


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_thousand_returns_are_free_and_the_next_one_counts(lockstep: Lockstep, clock: Clock) -> None:
    """After 1,000 snoozes and releases in a row the next is a failure and the count starts over, in both alike."""
    crowd = Crowd(lockstep, "idle")
    await crowd.submit(2, Specification(type="t", max_attempts=2))
    for number in range(IDLE_RETURNS + 1):
        await crowd.claim()
        if number % 2:
            await crowd.report(lambda token: c.Release(origin=WORKER, token=token))
        else:
            await crowd.report(lambda token: c.Snooze(origin=WORKER, token=token, delay=timedelta(seconds=1)))
        clock.advance(timedelta(seconds=30))
    await lockstep.compare()
    job = await lockstep.both(lambda stores: stores.reader.get(crowd.job_ids[0]))
    assert job is not None
    assert (job.failures, job.idle_returns, job.attempt) == (1, 0, IDLE_RETURNS + 1)
    for stores in (lockstep.memory, lockstep.postgres):
        items = [item async for item in stores.log.stream()]
        assert check(items, (), clock()).violations == ()
