"""Where a full scan takes long: it goes on beside the claims, which do not wait for it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from fencepost.adapters.postgres.database import RepeatingDatabase
from fencepost.adapters.postgres.job_store import PostgresJobStore
from fencepost.adapters.postgres.query import Query, Rows
from fencepost.domain.errors import TooSlow
from support.frontiers import AGES, SECOND, Arena, Claimer
from support.stores import Clock


class Gate(RepeatingDatabase):
    """A database that answers reads only while it is open, or fails them."""

    def __init__(self, dsn: str, clock: Clock) -> None:
        """Begin closed."""
        super().__init__(dsn, clock=clock, pool_size=1)
        self.opened, self.asked, self.fails = asyncio.Event(), 0, False

    async def execute(self, query: Query) -> Rows:
        """Wait for the gate."""
        self.asked += 1
        await self.opened.wait()
        if self.fails:
            raise TooSlow("the server gave up")
        return await super().execute(query)


@pytest.fixture
async def gate(clocked: str, clock: Clock) -> AsyncIterator[Gate]:
    """What the worker looks through."""
    gate = Gate(clocked, clock)
    yield gate
    await gate.close()


@pytest.fixture
async def claimer(arena: Arena, gate: Gate) -> AsyncIterator[Claimer]:
    """A worker for whom every full scan is one that takes long; the first one is over."""
    claimer = await arena.claimer()
    first, claimer.store = (
        claimer.store,
        PostgresJobStore(arena.database, full_scans=1e-9, cheap=-1, looks=gate, monotonic=claimer.seconds),
    )
    await first.close()
    await claimer.ask()
    yield claimer
    await claimer.store.close()


async def ended(gate: Gate, claimer: Claimer) -> None:
    """Let the look that is on its way come to its end."""
    gate.opened.set()
    looker = claimer.store._looker
    assert looker is not None
    await asyncio.gather(*looker._looks)


async def test_claims_go_on_while_somebody_looks(arena: Arena, claimer: Claimer, gate: Gate) -> None:
    """A full scan is due and takes its time: jobs in front of the frontier are claimed meanwhile."""
    await arena.pass_by(claimer)
    claimer.seconds.now += AGES
    job_ids = [await arena.submit() for _ in range(3)]
    assert [await claimer.claim(1) for _ in job_ids] == [[job_id] for job_id in job_ids]
    await asyncio.sleep(0)
    assert gate.asked == 1


async def test_what_was_found_is_claimed_next(arena: Arena, claimer: Claimer, gate: Gate) -> None:
    """A job that was committed late lies behind the frontier until a look has moved it back."""
    with arena.late() as [job_id]:
        await arena.pass_by(claimer)
    claimer.seconds.now += AGES
    assert await claimer.claim() == []
    await ended(gate, claimer)
    assert await claimer.claim() == [job_id]


async def test_the_first_of_each_level_is_found(arena: Arena, claimer: Claimer, gate: Gate) -> None:
    """Several latecomers on several levels are all claimed after one look, the highest level first."""
    await arena.pass_by(claimer)
    early = arena.clock.now - 60 * SECOND
    jobs = [await arena.submit(priority=level, run_at=early) for level in (3, 3, 8, 5)]
    claimer.seconds.now += AGES
    assert await claimer.claim() == []
    await ended(gate, claimer)
    assert await claimer.claim() == [jobs[2], jobs[3], jobs[0], jobs[1]]


async def test_who_has_nothing_to_do_asks_again_when_the_look_has_ended(
    arena: Arena, claimer: Claimer, gate: Gate
) -> None:
    """While it is on its way the next claim is due as soon as the last full scan took; then, when one is due again."""
    await arena.pass_by(claimer)
    claimer.seconds.now += AGES
    meanwhile = (await claimer.ask()).next_due_in
    await asyncio.sleep(0)
    claimer.seconds.now += 1.0
    await ended(gate, claimer)
    afterwards = (await claimer.ask()).next_due_in
    assert meanwhile is not None
    assert afterwards is not None
    assert meanwhile < 5 * SECOND < afterwards


async def test_a_look_that_was_given_up_harms_nobody(arena: Arena, claimer: Claimer, gate: Gate) -> None:
    """The claims go on, and the next look finds what this one did not."""
    with arena.late() as [job_id]:
        await arena.pass_by(claimer)
    gate.fails = True
    claimer.seconds.now += AGES
    assert await claimer.claim() == []
    await ended(gate, claimer)
    assert await claimer.claim() == []
    gate.fails = False
    claimer.seconds.now += AGES
    assert await claimer.claim() == []
    await ended(gate, claimer)
    assert await claimer.claim() == [job_id]


async def test_closing_the_store_ends_the_look(arena: Arena, claimer: Claimer, gate: Gate) -> None:
    """A worker that stops does not wait for it."""
    await arena.pass_by(claimer)
    claimer.seconds.now += AGES
    await claimer.claim()
    await claimer.store.close()
    assert not gate.opened.is_set()
