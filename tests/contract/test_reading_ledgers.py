"""What is read of ledgers, in memory and on PostgreSQL alike: when and by what each decision was made, and filters."""

from collections.abc import Sequence
from typing import Any

import pytest

from fencepost.application.ports.schedule_store import LedgerFilter
from fencepost.domain.firing import Outcome, Reason
from fencepost.domain.ledger import Entry
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.zones import TZ_VERSION
from support.schedules import MIDNIGHT, MINUTE, NAME
from support.time_plane import TimePlane, minutes

FIRED, SKIPPED = frozenset({Outcome.FIRED}), frozenset({Outcome.SKIPPED})


async def read(plane: TimePlane, where: LedgerFilter = LedgerFilter(), **how: Any) -> Sequence[Entry]:  # noqa: B008
    """Rows of the ledger."""
    return await plane.lockstep.both(lambda one: one.schedule_reader.firings(NAME, where, **how))


def told(rows: Sequence[Entry]) -> list[int]:
    """Their fire times, in minutes after midnight."""
    return [minutes(row.firing.fire_at) for row in rows]


async def eventful(plane: TimePlane) -> str:
    """At 5 fired, 10 and 15 skipped beside it, 12 triggered, 20 and 25 missed; returns the trigger's origin."""
    await plane.create(missed=Missed.SKIP)
    for passed in (5, 5):
        await plane.fire(passed * MINUTE)
    plane.clock.advance(2 * MINUTE)
    asked = await plane.trigger("r-1")
    await plane.fire(3 * MINUTE)
    await plane.fire(12 * MINUTE)
    return asked.origin


async def test_a_row_tells_when_and_by_what_its_decision_was_made(plane: TimePlane) -> None:
    """Later than the fire time when nobody was there; for the version that was in force then."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.edit("*/10 * * * *")
    await plane.fire(7 * MINUTE)
    rows = await read(plane)
    assert [(minutes(row.firing.fire_at), minutes(row.decided_at), row.version) for row in rows] == [
        (10, 12, 2),
        (5, 5, 1),
    ]
    assert {row.tz_version for row in rows} == {TZ_VERSION}


async def test_a_row_that_skips_go_on_in_keeps_what_it_said_first(plane: TimePlane) -> None:
    """Of when and by what."""
    await plane.create(missed=Missed.SKIP)
    await plane.fire(6 * MINUTE)
    await plane.fire(5 * MINUTE)
    [row] = await read(plane)
    assert (row.firing.count, row.decided_at) == (2, MIDNIGHT + 6 * MINUTE)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (LedgerFilter(), [20, 12, 10, 5]),
        (LedgerFilter(outcomes=FIRED), [12, 5]),
        (LedgerFilter(outcomes=SKIPPED), [20, 10]),
        (LedgerFilter(outcomes=FIRED | SKIPPED), [20, 12, 10, 5]),
        (LedgerFilter(outcomes=frozenset({Outcome.QUEUED})), []),
        (LedgerFilter(outcomes=frozenset()), []),
        (LedgerFilter(reasons=frozenset({Reason.OVERLAP})), [10]),
        (LedgerFilter(reasons=frozenset({Reason.OVERLAP, Reason.MISSED})), [20, 10]),
        (LedgerFilter(outcomes=SKIPPED, reasons=frozenset({Reason.DUE})), []),
        (LedgerFilter(origin="cron"), [20, 10, 5]),
        (LedgerFilter(origin="cron", outcomes=FIRED), [5]),
        (LedgerFilter(origin="cro_"), []),
    ],
)
async def test_conditions_hold_all_together(
    plane: TimePlane, where: LedgerFilter, expected: list[int]
) -> None:
    """A page shows exactly the rows that meet each, newest first."""
    await eventful(plane)
    assert told(await read(plane, where)) == expected


async def test_the_firings_of_one_trigger_are_found_by_its_origin(plane: TimePlane) -> None:
    """And no other."""
    assert told(await read(plane, LedgerFilter(origin=await eventful(plane)))) == [12]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_with_a_filter_show_each_row_once(plane: TimePlane, limit: int) -> None:
    """Those of one instant together; rows that the filter leaves out take no place on a page."""
    await plane.create(overlap=Overlap.ALLOW)
    await plane.fire(5 * MINUTE)
    plane.clock.advance(5 * MINUTE)
    for number in range(2):
        await plane.trigger(f"r-{number}")
        await plane.trigger(f"s-{number}", Overlap.SKIP)
    await plane.fire()
    await plane.fire(5 * MINUTE)
    where, found = LedgerFilter(outcomes=FIRED), list[Entry]()
    while page := await read(plane, where, before=_last(found), limit=limit):
        found += page
    assert told(found) == [15, 10, 10, 10, 5]
    assert len({(row.firing.fire_at, row.firing.origin) for row in found}) == 5


def _last(found: Sequence[Entry]) -> Any:
    return found[-1].firing.fire_at if found else None
