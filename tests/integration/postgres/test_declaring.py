"""Schedules that code declares, on PostgreSQL: synced again and again, by many at once, beside operators."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.declarations import AT_A_START, Declarations, How, Syncing
from fencepost.application.ports.event_log import LogFilter
from fencepost.application.scheduling import Scheduling
from fencepost.domain.declaring import Action, declaration
from fencepost.domain.event import ControlEvent
from fencepost.domain.schedule import Definition, Overlap
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, definition, plane_over
from support.stores import Clock

APP = "myapp.jobs:app"
FORCE = How(force=True)


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


def said(cron: str = "*/5 * * * *", **fields: Any) -> Definition:
    """What code says: it leaves the start open."""
    return definition(cron, **{"starts_at": None, **fields})


async def synced(
    plane: Plane, how: How = AT_A_START, app: str = APP, **schedules: Definition
) -> dict[str, str]:
    """Start a program that declares these schedules; the answers by name."""
    declarations = Declarations()
    for name, wanted in schedules.items():
        declarations.add(name, wanted)
    scheduling = Scheduling(plane.schedules, plane.firings, plane.schedules)
    answers = Syncing(scheduling, plane.schedules).sync(app, declarations, USER, how)
    return {answer.name: answer.action.value async for answer in answers}


async def events(plane: Plane) -> list[tuple[str, str | None]]:
    """Names of the control events, and who declares the schedule."""
    page = await PostgresEventLog(plane.database).page(LogFilter())
    return [(one.name.value, one.data.get("declared_by")) for one in page if isinstance(one, ControlEvent)]


async def test_a_declared_schedule_fires(plane: Plane) -> None:
    """From its creation on, as one that somebody created by hand."""
    assert await synced(plane, report=said()) == {NAME: "created"}
    found = await plane.schedule()
    assert found.declared == declaration(APP, said())
    assert (found.created_at, found.definition.timing.starts_at) == (MIDNIGHT, MIDNIGHT)
    await plane.fire(5 * MINUTE)
    assert await plane.told() == [(5, "fired", "due", 1)]


async def test_a_second_start_changes_nothing(plane: Plane) -> None:
    """Neither the schedule nor the history."""
    await synced(plane, report=said())
    before = await plane.schedule()
    plane.clock.advance(timedelta(days=1))
    assert await synced(plane, report=said()) == {NAME: "unchanged"}
    assert await plane.schedule() == before
    assert await events(plane) == [("schedule_created", APP)]


async def test_changed_code_is_an_edit(plane: Plane) -> None:
    """What was due by the old expression and is not decided yet is skipped; the start stays."""
    await synced(plane, report=said())
    plane.clock.advance(7 * MINUTE)
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "edited"}
    found = await plane.schedule()
    assert (found.version, found.next_fire_at) == (2, MIDNIGHT + timedelta(hours=12))
    assert found.definition.timing.starts_at == MIDNIGHT
    assert await plane.told() == [(5, "skipped", "edited", 1)]
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "unchanged"}


async def test_an_operators_edit_outlives_every_start(plane: Plane) -> None:
    """It is told as drift, until the code says something new: that is a conflict, and forced by hand only."""
    await synced(plane, report=said())
    edit = await plane.schedules.edit(NAME, definition(overlap=Overlap.ALLOW), USER)
    assert edit.declared == declaration(APP, said())
    assert await synced(plane, report=said()) == {NAME: "drifted"}
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "conflict"}
    assert await plane.schedule() == edit
    assert await synced(plane, FORCE, report=said("0 12 * * *")) == {NAME: "edited"}
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "unchanged"}


async def test_an_edit_that_comes_into_the_code_is_no_edit(plane: Plane) -> None:
    """The event tells of it; what is due is not passed over, and the version stays."""
    await synced(plane, report=said())
    await plane.schedules.edit(NAME, definition("*/10 * * * *"), USER)
    plane.clock.advance(10 * MINUTE)
    assert await synced(plane, report=said("*/10 * * * *")) == {NAME: "adopted"}
    assert (await plane.schedule()).version == 2
    await plane.fire()
    assert await plane.told() == [(10, "fired", "due", 1)]
    assert [name for name, _ in await events(plane)] == [
        "schedule_created",
        "schedule_edited",
        "schedule_declared",
    ]


async def test_a_schedule_made_by_hand_is_left_alone_unless_it_is_the_same(plane: Plane) -> None:
    """Code finds a name taken."""
    by_hand = await plane.create()
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "conflict"}
    assert await plane.schedule() == by_hand
    assert await synced(plane, report=said()) == {NAME: "adopted"}
    assert (await plane.schedule()).declared == declaration(APP, said())


async def test_a_paused_schedule_stays_paused(plane: Plane) -> None:
    """Whatever the code says, with force or without."""
    await synced(plane, report=said())
    await plane.schedules.pause(NAME, USER)
    assert await synced(plane, report=said("0 12 * * *")) == {NAME: "edited"}
    assert await synced(plane, FORCE, report=said()) == {NAME: "edited"}
    found = await plane.schedule()
    assert (found.paused_at, found.pause_reason) == (MIDNIGHT, USER.reason)
    await plane.fire(timedelta(hours=1))
    assert await plane.told() == []


async def test_a_deleted_schedule_is_back_with_the_next_start(plane: Plane) -> None:
    """Code that declares it wants it; it fires no slot again that it has fired."""
    await synced(plane, report=said())
    await plane.fire(5 * MINUTE)
    await plane.schedules.delete(NAME, USER)
    plane.clock.advance(-MINUTE)
    assert await synced(plane, report=said()) == {NAME: "created"}
    await plane.fire(MINUTE)
    assert len(await plane.all_jobs()) == 1


async def test_what_the_code_does_not_declare_any_more_is_told_and_goes_when_asked_for(plane: Plane) -> None:
    """Only what this app has declared: neither another app's, nor what was made by hand."""
    await synced(plane, report=said(), other=said())
    await synced(plane, app="another:app", theirs=said())
    await plane.create("by-hand")
    assert await synced(plane, other=said()) == {"other": "unchanged", NAME: "undeclared"}
    assert await synced(plane, How(prune=True), other=said()) == {"other": "unchanged", NAME: "deleted"}
    left = [one.name for one in await plane.schedules.list()]
    assert left == ["by-hand", "other", "theirs"]


async def test_a_dry_run_tells_and_does_nothing(plane: Plane) -> None:
    """Whatever else is asked for."""
    await synced(plane, edited=said(), gone=said())
    before = await plane.schedules.list()
    how = How(force=True, prune=True, dry_run=True)
    assert await synced(plane, how, new=said(), edited=said("0 12 * * *")) == {
        "new": "created",
        "edited": "edited",
        "gone": "deleted",
    }
    assert await plane.schedules.list() == before


async def test_one_that_fails_does_not_hold_up_the_others(plane: Plane) -> None:
    """Its end has passed before it could begin."""
    ended = said(ends_at=MIDNIGHT - MINUTE)
    assert await synced(plane, ended=ended, report=said()) == {"ended": "failed", NAME: "created"}


@pytest.mark.parametrize("change", ["creation", "edit", "force"])
async def test_of_many_starts_at_once_one_writes(plane: Plane, change: str) -> None:
    """The others find what it has written: one event, one version more."""
    code, how = said("0 12 * * *"), FORCE if change == "force" else AT_A_START
    if change != "creation":
        await synced(plane, report=said())
    if change == "force":
        await plane.schedules.edit(NAME, definition(overlap=Overlap.ALLOW), USER)
    before = await events(plane)
    scheduling = Scheduling(plane.schedules, plane.firings, plane.schedules)
    answers = await asyncio.gather(
        *(scheduling.declare(NAME, code, USER, app=APP, force=how.force) for _ in range(8))
    )
    wrote = Action.CREATED if change == "creation" else Action.EDITED
    assert sorted(one.action for one in answers) == sorted([wrote, *[Action.UNCHANGED] * 7])
    assert len(await events(plane)) == len(before) + 1
    assert await synced(plane, report=code) == {NAME: "unchanged"}


async def test_starts_at_once_of_two_versions_leave_one_of_them(plane: Plane) -> None:
    """Whole, and remembered as declared: the next start decides."""
    await synced(plane, report=said())
    old, new = said("0 6 * * *"), said("0 12 * * *")
    scheduling = Scheduling(plane.schedules, plane.firings, plane.schedules)
    await asyncio.gather(
        *(scheduling.declare(NAME, code, USER, app=APP) for code in (old, new) for _ in range(4))
    )
    found = await plane.schedule()
    assert found.declared in (declaration(APP, old), declaration(APP, new))
    assert await synced(plane, report=new) in ({NAME: "edited"}, {NAME: "unchanged"})
    assert (await plane.schedule()).definition.timing.cron == "0 12 * * *"


async def test_an_operators_edit_beside_a_start_always_stands(plane: Plane) -> None:
    """If it comes first, the start finds a conflict; if it comes second, it is the newer word."""
    edit, code = definition(overlap=Overlap.ALLOW), said("0 12 * * *")
    for _ in range(10):
        await synced(plane, FORCE, report=said())
        await asyncio.gather(plane.schedules.edit(NAME, edit, USER), synced(plane, report=code))
        assert (await plane.schedule()).definition == edit
