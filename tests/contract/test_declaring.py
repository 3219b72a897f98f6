"""Schedules that code declares: both databases answer and write the same."""

from datetime import timedelta
from typing import Any

from fencepost.domain.declaring import Action
from fencepost.domain.errors import InvalidInput
from fencepost.domain.schedule import Definition, Overlap
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, definition
from support.time_plane import TimePlane

LUNCH = "30 12 * * *"


def said(cron: str = "*/5 * * * *", **fields: Any) -> Definition:
    """What code says: it leaves the start open."""
    return definition(cron, **{"starts_at": None, **fields})


async def test_code_and_operator_take_turns(plane: TimePlane) -> None:
    """Created, unchanged, edited; drifted, in conflict, forced; adopted, taken over, created again."""
    assert await plane.declare(said()) is Action.CREATED
    plane.clock.advance(7 * MINUTE)
    assert await plane.declare(said()) is Action.UNCHANGED
    assert await plane.declare(said(LUNCH)) is Action.EDITED
    await plane.edit("*/10 * * * *")
    assert await plane.declare(said(LUNCH)) is Action.DRIFTED
    assert await plane.declare(said()) is Action.CONFLICT
    assert await plane.declare(said(), force=True) is Action.EDITED
    await plane.edit(LUNCH)
    assert await plane.declare(said(LUNCH)) is Action.ADOPTED
    assert await plane.declare(said(), "other:app") is Action.CONFLICT
    assert await plane.declare(said(LUNCH), "other:app") is Action.ADOPTED
    await plane.delete()
    assert await plane.declare(said()) is Action.CREATED
    assert await plane.told() == [(5, "skipped", "edited", 1)]


async def test_a_paused_schedule_is_edited_and_stays_paused(plane: TimePlane) -> None:
    """Until somebody resumes it."""
    await plane.declare(said())
    await plane.pause()
    assert await plane.declare(said(LUNCH, overlap=Overlap.ALLOW)) is Action.EDITED
    assert (await plane.schedule()).next_fire_at is None
    await plane.resume()
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + timedelta(hours=12, minutes=30)


async def test_the_schedules_of_an_app_are_found_by_name_and_by_app(plane: TimePlane) -> None:
    """In order, each once."""
    await plane.create("by-hand")
    await plane.declare(said(), name="mine")
    await plane.declare(said(), "other:app", name="theirs")
    assert await plane.declared("jobs:app") == ["mine"]
    assert await plane.declared("jobs:app", "by-hand", "mine", "nowhere") == ["by-hand", "mine"]
    assert await plane.declared("jobs:app", "theirs") == ["mine", "theirs"]


async def test_a_declaration_that_leaves_no_fire_time_is_refused(plane: TimePlane) -> None:
    """Its end has passed before it could begin."""
    ended = said(ends_at=MIDNIGHT - MINUTE)
    error = await plane.lockstep.refused(
        lambda one: one.schedules.declare("report", ended, USER, app="jobs:app")
    )
    assert error is InvalidInput
    await plane.agree()
