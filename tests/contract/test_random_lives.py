"""Random operations over several jobs: memory and PostgreSQL never part."""

from collections.abc import AsyncIterator

import pytest
from attrs import evolve as changed

from fencepost.domain.event import JobEvent
from fencepost.domain.evolve import fold
from fencepost.domain.invariants import check
from fencepost.domain.job import Job
from fencepost.domain.ledger_rows import LedgerRow
from fencepost.domain.vocabulary import State
from support.chance import Life
from support.figures import Note
from support.stores import Lockstep


@pytest.mark.timeout(300)
async def test_random_lives_are_the_same_in_memory_and_postgresql(lockstep: Lockstep, note: Note) -> None:
    """After every step of every life verdicts, rows and events agree, and the whole history passes the checker."""
    await _live(lockstep, range(20), 50)
    note(f"contract: 20 random lives of 50 steps, memory = {lockstep.postgres.name}")


@pytest.mark.long
@pytest.mark.timeout(3_600)
async def test_many_random_lives_are_the_same_in_memory_and_postgresql(
    lockstep: Lockstep, note: Note
) -> None:
    """The same over many more and longer lives."""
    await _live(lockstep, range(1_000, 1_200), 150)
    note(f"contract: 200 random lives of 150 steps, memory = {lockstep.postgres.name}")


async def _live(lockstep: Lockstep, seeds: range, steps: int) -> None:
    for seed in seeds:
        try:
            await Life(lockstep, seed).live(steps)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
    for stores in (lockstep.memory, lockstep.postgres):
        await _check_folds(stores.log.stream())
        items = [item async for item in stores.log.stream()]
        controls = [event async for event in stores.log.control_stream()]
        assert check(items, controls, await stores.log.clock()).violations == ()


async def _check_folds(stream: AsyncIterator[JobEvent | LedgerRow | Job]) -> None:
    """Every row of a stream of events and rows is the fold of the events before it."""
    events: list[JobEvent] = []
    async for item in stream:
        if isinstance(item, JobEvent):
            events.append(item)
            continue
        assert isinstance(item, Job)
        folded = fold(events)
        assert folded is not None
        if item.state is State.RUNNING:
            folded = changed(folded, lease_expires_at=item.lease_expires_at, heartbeats=item.heartbeats)
        assert folded == item
        events = []
