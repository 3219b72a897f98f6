"""The firing loop: it empties what is due, sleeps exactly until the next fire time, and outlives its database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from attrs import define, field

from fencepost.application.firing import BACKFILLED, LIMIT, FiringLoop
from fencepost.application.ports.schedule_store import Fired, Triggered
from fencepost.domain.commands import Origin
from fencepost.domain.errors import Unavailable
from fencepost.domain.schedule import Overlap
from support.local_time import MovedTime, settle


@define
class Store:
    """Answers rounds with what the test has laid out, and with nothing after that; notes when it was asked."""

    time: MovedTime
    answers: list[Fired | Exception] = field(factory=list)
    asked: list[float] = field(factory=list)
    released: int = 0
    backfills: int = 0
    advanced: list[int] = field(factory=list)
    broken: bool = False
    outdated: int = 0
    recomputed: list[float] = field(factory=list)

    async def fire(self, limit: int) -> Fired:
        """Give the next answer."""
        assert limit == LIMIT
        self.asked.append(self.time.monotonic())
        answer = self.answers.pop(0) if self.answers else Fired(schedules=0, full=False, next_in=None)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def recompute(self, limit: int) -> int:
        """Have schedules of older rules in so many rounds."""
        self.recomputed.append(self.time.monotonic())
        self.outdated = max(0, self.outdated - 1)
        return self.outdated

    async def release(self, limit: int) -> Fired:
        """Nothing waits."""
        self.released += 1
        return Fired(schedules=0, full=False, next_in=None)

    async def advance(self, limit: int) -> Fired:
        """Give the next answer about backfills."""
        assert limit == BACKFILLED
        self.advanced.append(len(self.asked))
        if self.broken:
            raise ValueError("nobody can read this backfill")
        full = self.backfills > 0
        self.backfills -= full
        return Fired(schedules=int(full), full=full, next_in=None)

    async def trigger(self, name: str, overlap: Overlap, origin: Origin) -> Triggered:
        """Nobody triggers here."""
        raise NotImplementedError


@define
class Wakeups:
    """A hint in the test's hands."""

    ring: Callable[[], None] | None = None
    closed: bool = False

    def open(self, ring: Callable[[], None]) -> None:
        """Remember whom to wake."""
        self.ring = ring

    async def close(self) -> None:
        """Be closed."""
        self.closed = True


@define
class Scene:
    """A running loop."""

    time: MovedTime
    store: Store
    wakeups: Wakeups
    loop: FiringLoop
    running: "asyncio.Task[None]"


@pytest.fixture
async def scene() -> AsyncIterator[Callable[..., Scene]]:
    """Start a loop over the given answers; it is stopped at the end."""
    started: list[Scene] = []

    def start(*answers: Fired | Exception, backfills: int = 0) -> Scene:
        time, wakeups = MovedTime(), Wakeups()
        store = Store(time, list(answers), backfills=backfills)
        loop = FiringLoop(store, store, wakeups, time, lambda: 0.5)
        started.append(Scene(time, store, wakeups, loop, asyncio.ensure_future(loop.run())))
        return started[-1]

    yield start
    for one in started:
        one.loop.stop()
        await one.running
        assert one.wakeups.closed


def answer(*, next_in: float | None = None, full: bool = False) -> Fired:
    """What a round has come to."""
    return Fired(
        schedules=LIMIT if full else 1,
        full=full,
        next_in=None if next_in is None else timedelta(seconds=next_in),
    )


async def test_it_asks_again_while_more_may_be_due(scene: Callable[..., Scene]) -> None:
    """Batch after batch, without a pause; what waits for jobs to end is looked at after each."""
    one = scene(answer(full=True), answer(full=True), answer())
    await settle()
    assert (one.store.asked, one.store.released) == ([0.0, 0.0, 0.0], 3)


async def test_a_backfill_goes_on_between_looks_at_the_clocks_firings(scene: Callable[..., Scene]) -> None:
    """One batch each time, without a pause as long as there may be more."""
    one = scene(answer(next_in=0.5), backfills=2)
    await one.time.advance(0)
    assert (one.store.asked, one.store.advanced) == ([0.0, 0.0, 0.0], [1, 2, 3])


async def test_next_fire_times_of_older_rules_are_looked_for_each_minute(scene: Callable[..., Scene]) -> None:
    """Batch after batch while there are some; a scheduler of an older version may go on writing them."""
    one = scene()
    one.store.outdated = 3
    await one.time.advance(61)
    assert one.store.recomputed == [0.0, 0.0, 0.0, 60.0]


async def test_it_sleeps_exactly_until_the_next_fire_time(scene: Callable[..., Scene]) -> None:
    """Not a moment more."""
    one = scene(answer(next_in=0.25), answer(next_in=0.5))
    await one.time.advance(0.8)
    assert one.store.asked == [0.0, 0.25, 0.75]


async def test_it_sleeps_no_longer_than_the_poll(scene: Callable[..., Scene]) -> None:
    """A hint may have been lost."""
    one = scene(answer(next_in=3_600.0))
    await one.time.advance(2.5)
    assert one.store.asked == [0.0, 1.0, 2.0]


async def test_a_hint_ends_the_sleep(scene: Callable[..., Scene]) -> None:
    """Somebody has changed a schedule."""
    one = scene()
    await one.time.advance(0.5)
    assert one.wakeups.ring is not None
    one.wakeups.ring()
    await settle()
    assert one.store.asked == [0.0, 0.5]


async def test_it_outlives_its_database(scene: Callable[..., Scene]) -> None:
    """It asks again, later and later, and is in contact once it is answered."""
    one = scene(Unavailable("away"), Unavailable("away"))
    await settle()
    lost = one.loop.in_contact
    await one.time.advance(10)
    assert (lost, one.loop.in_contact) == (False, True)
    assert len(one.store.asked) > 3


async def test_a_stop_ends_it_at_once(scene: Callable[..., Scene]) -> None:
    """It does not sleep on."""
    one = scene()
    await settle()
    one.loop.stop()
    await one.running
    assert one.store.asked == [0.0]


async def test_a_round_that_fails_for_no_known_reason_is_tried_again(scene: Callable[..., Scene]) -> None:
    """The process has a reaper, too, which must not end with it."""
    one = scene(ValueError("nobody can read this schedule"), answer())
    await one.time.advance(10)
    assert len(one.store.asked) > 3


async def test_a_backfill_that_cannot_be_carried_out_holds_up_no_firing(scene: Callable[..., Scene]) -> None:
    """What is due by the clock is looked at when it is due."""
    one = scene(answer(next_in=0.25), answer())
    one.store.broken = True
    await one.time.advance(0.5)
    assert one.store.asked == [0.0, 0.25]
