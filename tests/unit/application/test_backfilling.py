"""Backfills are checked before they reach a store."""

from typing import Any

import pytest
from attrs import evolve

from fencepost.adapters.memory.backfill_store import MemoryBackfillStore
from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.schedule_store import MemoryScheduleStore
from fencepost.application.backfilling import Backfilling
from fencepost.domain.backfill import Wanted
from fencepost.domain.errors import InvalidInput
from fencepost.domain.schedule import Overlap
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, definition
from support.stores import Clock

WANTED = Wanted(from_at=MIDNIGHT - 10 * MINUTE, to_at=MIDNIGHT)


@pytest.fixture
async def backfilling() -> Backfilling:
    """Over a schedule in memory; it is midnight."""
    database = MemoryDatabase(Clock(MIDNIGHT))
    await MemoryScheduleStore(database).create(NAME, definition(), USER)
    return Backfilling(MemoryBackfillStore(database))


async def test_what_is_asked_for_is_counted_and_listed(backfilling: Backfilling) -> None:
    """Counting changes nothing."""
    assert await backfilling.size(NAME, WANTED) == 3
    assert await backfilling.list(NAME) == []
    requested = await backfilling.backfill(NAME, WANTED, USER)
    assert await backfilling.list(NAME) == [requested.backfill]


@pytest.mark.parametrize("request_id", [None, "", " "])
async def test_a_request_needs_an_id(backfilling: Backfilling, request_id: str | None) -> None:
    """Else asking again after a lost answer would fire twice."""
    with pytest.raises(InvalidInput) as refusal:
        await backfilling.backfill(NAME, WANTED, evolve(USER, request_id=request_id))
    assert refusal.value.field == "request_id"


@pytest.mark.parametrize(
    ("name", "changes", "field"),
    [
        ("a b", {}, "name"),
        (NAME, {"to_at": MIDNIGHT - 11 * MINUTE}, "to"),
        (NAME, {"priority": -1}, "priority"),
        (NAME, {"overlap": Overlap.CANCEL_RUNNING}, "overlap"),
    ],
)
async def test_bad_input_is_named(
    backfilling: Backfilling, name: str, changes: dict[str, Any], field: str
) -> None:
    """Whether it is asked for or counted."""
    wanted = evolve(WANTED, **changes)
    for call in (backfilling.backfill(name, wanted, USER), backfilling.size(name, wanted)):
        with pytest.raises(InvalidInput) as refusal:
            await call
        assert refusal.value.field == field


async def test_other_questions_are_checked_too(backfilling: Backfilling) -> None:
    """The id of a backfill, the length of a page, who asks."""
    for call in (
        backfilling.stop(" ", USER),
        backfilling.stop("backfill:1", evolve(USER, actor="\x00")),
        backfilling.list(NAME, limit=0),
        backfilling.list("a b"),
    ):
        with pytest.raises(InvalidInput):
            await call
