"""From a schedule to its jobs, in memory and on PostgreSQL alike."""

from collections.abc import Sequence
from typing import Any

import pytest

from fencepost.application.ports.job_reader import JobFilter
from fencepost.domain.schedule import Overlap
from fencepost.domain.vocabulary import State
from support.asking import submit
from support.schedules import MINUTE
from support.time_plane import TimePlane


async def found(plane: TimePlane, schedule: str = "report", **where: Any) -> list[int]:
    """The jobs of a schedule, as both list and count them."""
    chosen = JobFilter(schedule=schedule, **where)
    page = await plane.lockstep.both(lambda one: one.reader.page(chosen))
    assert await plane.lockstep.both(lambda one: one.reader.count(chosen)) == len(page)
    states = await plane.lockstep.both(lambda one: one.reader.states(chosen))
    assert sum(states.values()) == len(page)
    return [job.job_id for job in page]


async def named(plane: TimePlane, schedule: str = "report") -> list[int]:
    """The jobs that its ledger names, newest first."""
    return sorted(
        (row.job_id for row in await plane.ledger(schedule) if row.job_id is not None), reverse=True
    )


async def test_the_jobs_of_a_schedule_are_those_that_its_ledger_names(plane: TimePlane) -> None:
    """Of the clock, of triggers and of backfills; no other's, and none that somebody has submitted."""
    await plane.create(overlap=Overlap.ALLOW)
    await plane.create("other", overlap=Overlap.ALLOW)
    await plane.step(submit)
    await plane.fire(5 * MINUTE)
    await plane.trigger("r-1")
    await plane.backfill(10)
    await plane.advance()
    jobs = await found(plane)
    assert len(jobs) == 5
    assert jobs == await named(plane)
    assert await found(plane, "other") == await named(plane, "other") != []


async def test_a_fire_time_without_a_job_has_none_to_show(plane: TimePlane) -> None:
    """One that waits has its job once that is inserted."""
    await plane.create(overlap=Overlap.QUEUE_ONE)
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    assert await found(plane) == [1]
    await plane.finish()
    await plane.release()
    assert await found(plane) == [2, 1]


@pytest.mark.parametrize("name", ["nobody", "report%", "_eport", "REPORT", ""])
async def test_a_schedule_that_never_was_has_no_jobs(plane: TimePlane, name: str) -> None:
    """A name is no pattern."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    assert await found(plane, name) == []


async def test_jobs_are_found_after_their_schedule_was_deleted(plane: TimePlane) -> None:
    """As its ledger stays."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.delete()
    assert await found(plane) == [1]


async def test_a_schedule_is_one_condition_beside_the_others(plane: TimePlane) -> None:
    """All of them must hold."""
    await plane.create(overlap=Overlap.ALLOW)
    for _ in range(3):
        await plane.fire(5 * MINUTE)
    await plane.cancel(2)
    assert await found(plane, states=frozenset({State.PENDING})) == [3, 1]
    assert await found(plane, states=frozenset({State.CANCELLED}), queue="default", type="work") == [2]
    assert await found(plane, queue="elsewhere") == []
    assert await found(plane, submitted_before=plane.clock()) == [2, 1]


async def test_pages_of_a_schedules_jobs_follow_each_other(plane: TimePlane) -> None:
    """Each job once, though those of another lie between them."""
    await plane.create("a", overlap=Overlap.ALLOW)
    await plane.create("b", overlap=Overlap.ALLOW)
    for _ in range(5):
        await plane.fire(5 * MINUTE)
    seen: list[int] = []
    while page := await _below(plane, seen):
        seen += page
    assert len(seen) == 5
    assert seen == await named(plane, "a")


async def _below(plane: TimePlane, seen: Sequence[int]) -> list[int]:
    below = min(seen, default=None)
    where = JobFilter(schedule="a")
    page = await plane.lockstep.both(lambda one: one.reader.page(where, below=below, limit=2))
    return [job.job_id for job in page]
