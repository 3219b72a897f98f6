"""A database clock that steps back and forth: each fire time is decided once, whatever people do meanwhile."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import define, field

from fencepost.domain.firing import Firing
from fencepost.domain.schedule import CRON, Missed, Overlap
from fencepost.domain.vocabulary import Verdict
from support.cron_oracle import fires
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, asked, definition, plane_over
from support.stores import Clock

HOUR = timedelta(hours=1)
EVERY, ALIKE = "*/5 * * * *", "0-59/5 * * * *"
"""Two ways to say the same: who edits one into the other lets its fire times be counted from then on."""
STEPS = (HOUR, -HOUR, HOUR, -HOUR, 25 * MINUTE, -10 * MINUTE, 3 * MINUTE, 5 * MINUTE)


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


@define
class Stretch:
    """While a schedule was active: its fire times after one moment, as far as somebody has looked."""

    after: datetime
    seen: datetime = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Nobody has looked yet."""
        self.seen = self.after

    def fire_times(self) -> set[datetime]:
        """By the independent judge."""
        most = int((self.seen - self.after) / MINUTE) + 1
        return {at for at in fires(EVERY, ZoneInfo("UTC"), self.after, most) if at <= self.seen}


@define
class Life:
    """A schedule, what happens to it, and what must have been decided about it."""

    plane: Plane
    random: random.Random
    policies: dict[str, object]
    stretches: list[Stretch] = field(factory=list)
    active: bool = False
    edits: int = 0

    @property
    def now(self) -> datetime:
        """The database's clock."""
        return self.plane.clock.now

    async def live(self, days: int) -> None:
        """Let so many things happen, whatever they are."""
        await self.create()
        deeds = (self.step, self.step, self.step, self.edit, self.pause, self.anew, self.work, self.trigger)
        for _ in range(days):
            await self.random.choice(deeds)()

    async def create(self) -> None:
        """A new schedule, or the next of its name."""
        await self.plane.create(NAME, cron=EVERY, **self.policies)
        self._begin()

    async def step(self) -> None:
        """The clock steps, and a scheduler comes by."""
        self.plane.clock.advance(self.random.choice(STEPS))
        await self.plane.round()
        self._look()

    async def edit(self) -> None:
        """Another payload, and now and then another expression: then its fire times are counted from now on."""
        self.edits += 1
        cron = (await self.plane.schedule()).definition.timing.cron
        wanted = self.random.choice((EVERY, ALIKE))
        changed = definition(wanted, payload=f'{{"edit":{self.edits}}}', **self.policies)
        await self.plane.schedules.edit(NAME, changed, USER)
        if self.active and wanted != cron:
            self._look()
            self._begin()

    async def pause(self) -> None:
        """Somebody pauses it, or lets it go on."""
        if self.active:
            assert await self.plane.schedules.pause(NAME, USER) is Verdict.ACCEPTED
            self._look()
            self.active = False
        else:
            assert await self.plane.schedules.resume(NAME, USER) is Verdict.ACCEPTED
            self._begin()

    async def anew(self) -> None:
        """Somebody deletes it and makes it again."""
        await self.plane.schedules.delete(NAME, USER)
        self._look()
        await self.create()

    async def work(self) -> None:
        """What is due runs and ends."""
        await self.plane.end(*await self.plane.claim(100))

    async def trigger(self) -> None:
        """Somebody fires it."""
        overlap = self.random.choice(list(Overlap))
        await self.plane.firings.trigger(NAME, overlap, asked(f"request-{self.random.random()}"))

    def expected(self) -> set[datetime]:
        """The fire times that must be decided."""
        return set().union(*(stretch.fire_times() for stretch in self.stretches))

    def _begin(self) -> None:
        self.active = True
        self.stretches.append(Stretch(self.now))

    def _look(self) -> None:
        if self.active:
            self.stretches[-1].seen = max(self.stretches[-1].seen, self.now)


async def clocks_rows(plane: Plane) -> list[Firing]:
    """The ledger's rows about the clock's fire times."""
    return [row for row in await plane.ledger() if row.origin == CRON]


def covered(row: Firing, fire_times: set[datetime]) -> list[datetime]:
    """The fire times that a row is about."""
    return sorted(at for at in fire_times if row.fire_at <= at <= row.last)


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 300), marks=pytest.mark.long)], ids=["some", "many"]
)
async def test_whatever_clock_and_people_do_each_fire_time_is_decided_once(
    plane: Plane, seeds: range
) -> None:
    """Steps of an hour, edits, pauses, deletions, triggers: no second decision, no missing one, no second job."""
    for seed in seeds:
        draw = random.Random(seed)
        policies: dict[str, object] = {
            "missed": draw.choice(list(Missed)),
            "overlap": draw.choice(list(Overlap)),
        }
        plane.clock.now = datetime(2030, 1, 1, 12, tzinfo=UTC) + timedelta(days=10 * seed)
        life = Life(plane, draw, policies)
        await life.live(30)
        await judge(life, seed)
        await plane.schedules.delete(NAME, USER)
    plane.clock.advance(timedelta(days=1))  # nothing may have happened later than the proof reads the clock


async def judge(life: Life, seed: int) -> None:
    """Compare the ledger since the life began with what must be there."""
    began, expected = life.stretches[0].after, life.expected()
    first = min([began, *(stretch.after for stretch in life.stretches)])
    rows = [row for row in await clocks_rows(life.plane) if row.fire_at > first]
    decided = [at for row in rows for at in covered(row, expected)]
    assert (seed, sorted(set(decided))) == (seed, sorted(expected))
    assert (seed, len(decided)) == (seed, len(set(decided)))
    assert [(seed, len(covered(row, expected))) for row in rows] == [(seed, row.count) for row in rows]
    jobs = [row.job_id for row in await life.plane.ledger() if row.job_id is not None]
    keys = [job.effect_key for job in await life.plane.all_jobs()]
    assert len(jobs) == len(set(jobs))
    assert len(keys) == len(set(keys))


async def test_what_was_coalesced_does_not_fire_after_all(plane: Plane) -> None:
    """The clock goes an hour forward and back, and somebody edits: its fire times have had their decision."""
    await plane.create()
    await plane.fire(HOUR)
    plane.clock.advance(-HOUR)
    await plane.schedules.edit(NAME, definition(ALIKE), USER)
    await plane.fire(HOUR / 2)
    await plane.fire(HOUR / 2)
    assert await plane.told() == [(5, "coalesced", "missed", 11), (60, "fired", "due", 1)]
    assert len(await plane.all_jobs()) == 1
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + HOUR + 5 * MINUTE


async def test_what_has_fired_neither_waits_nor_cancels(plane: Plane) -> None:
    """Its job runs when the clock comes by again, which is no reason to stop it or to let another one wait."""
    await plane.create(overlap=Overlap.CANCEL_RUNNING)
    await plane.round(5 * MINUTE)
    [token] = await plane.claim()
    plane.clock.advance(-5 * MINUTE)
    await plane.schedules.edit(NAME, definition(ALIKE, overlap=Overlap.CANCEL_RUNNING), USER)
    await plane.round(5 * MINUTE)
    [job] = await plane.all_jobs()
    assert not job.cancel_requested
    await plane.end(token)
    await plane.round()
    assert await plane.told() == [(5, "fired", "due", 1)]
    assert len(await plane.all_jobs()) == 1


async def test_a_range_has_no_gap(plane: Plane) -> None:
    """Skips before and after a pause are two rows: what a range covers was decided, and paused time was not."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(HOUR)
    await plane.schedules.pause(NAME, USER)
    plane.clock.advance(HOUR)
    await plane.schedules.resume(NAME, USER)
    await plane.fire(HOUR)
    assert await plane.told() == [
        (5, "skipped", "missed", 11),
        (60, "fired", "due", 1),
        (125, "skipped", "missed", 11),
        (180, "skipped", "overlap", 1),
    ]
