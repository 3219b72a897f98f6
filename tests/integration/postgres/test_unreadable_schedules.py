"""Schedules whose stored definition nobody can read: people see them, pause them, delete them or define them anew."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psycopg
import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.application.declarations import Declarations, How, Syncing
from fencepost.application.ports.event_log import LogFilter
from fencepost.application.scheduling import Scheduling
from fencepost.domain.backfill import Ending, Wanted
from fencepost.domain.declaring import Declared
from fencepost.domain.errors import ScheduleUnreadable
from fencepost.domain.event import ControlEvent
from fencepost.domain.schedule import Overlap
from fencepost.domain.vocabulary import Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, Plane, asked, definition, plane_over
from support.stores import Clock

pytestmark = pytest.mark.unproven("it forges rows of schedules")

APP = "myapp.jobs:app"
WANTED = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT)
FAULT = "Object missing required field `cron`"
NEWER = """definition || '{"overlap": "queue_all", "colour": "red"}'"""
WRONG = (
    ("'[]'", "Expected `object`, got `array`"),
    ("'{}'", FAULT),
    (NEWER, "'queue_all' is not a valid Overlap"),
    ("""definition || '{"cron": 5}'""", "Expected `str`, got `int` - at `$.cron`"),
    ("""definition || '{"jitter_us": 1e30}'""", "Expected `int` <= 3162240000000000 - at `$.jitter_us`"),
    ("""definition || '{"starts_at": "2030-01-01T00:00:00"}'""", "matching regex 'Z$' - at `$.starts_at`"),
    ("""jsonb_set(definition, '{job,priority}', '99')""", "Expected `int` <= 9 - at `$.job.priority`"),
    ("""jsonb_set(definition, '{job,lease_us}', '0')""", "Expected `int` >= 1 - at `$.job.lease_us`"),
    ("""jsonb_set(definition, '{job,retry}', '{"policy": "never"}')""", "retry: must be an exponential"),
)
READS_IT: dict[str, Callable[[Plane], Awaitable[Any]]] = {
    "create": lambda plane: plane.create("broken"),
    "resume": lambda plane: plane.schedules.resume("broken", USER),
    "trigger": lambda plane: plane.firings.trigger("broken", Overlap.ALLOW, asked("now")),
    "backfill": lambda plane: plane.backfills.request("broken", WANTED, asked("past")),
    "size": lambda plane: plane.backfills.size("broken", WANTED),
    "show": lambda plane: _scheduling(plane).get("broken"),
    "amend": lambda plane: _scheduling(plane).amend("broken", lambda there: there, USER),
}


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there are two schedules."""
    async with plane_over(clocked, clock) as plane:
        await plane.create("broken", overlap=Overlap.QUEUE_ONE)
        await plane.create("sound")
        yield plane


async def forged(plane: Plane, value: str = "'{}'") -> None:
    """Somebody writes into a schedule's row, or a newer version has written what this one does not know."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        changed = f"UPDATE fencepost.schedules SET definition = {value} WHERE name = 'broken'"
        await connection.execute(changed.encode())


async def unread_backfill(plane: Plane) -> None:
    """Somebody writes into the row of the broken schedule's backfill."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute("UPDATE fencepost.backfills SET timing = '{}' WHERE schedule = 'broken'")


async def stored(plane: Plane) -> list[Any]:
    """The definition in the row."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        found = await connection.execute("SELECT definition FROM fencepost.schedules WHERE name = 'broken'")
        return [definition for (definition,) in await found.fetchall()]


async def events(plane: Plane) -> list[tuple[str, str, str | None]]:
    """Name, actor and reason of what happened to the broken one since it was created."""
    page = await PostgresEventLog(plane.database).page(LogFilter(subject="schedule:broken"))
    found = [one for one in page if isinstance(one, ControlEvent)]
    return [(one.name.value, one.actor, one.reason) for one in found][1:]


async def synced(plane: Plane, *, force: bool = False, dry_run: bool = False) -> list[Declared]:
    """A program that declares both starts."""
    declarations = Declarations()
    for name in ("broken", "sound"):
        declarations.add(name, definition(starts_at=None, overlap=Overlap.QUEUE_ONE))
    syncing = Syncing(_scheduling(plane), plane.schedules)
    return [one async for one in syncing.sync(APP, declarations, USER, How(force=force, dry_run=dry_run))]


def _scheduling(plane: Plane) -> Scheduling:
    return Scheduling(plane.schedules, plane.firings, plane.schedules)


@pytest.mark.parametrize(("value", "fault"), WRONG)
async def test_what_is_wrong_is_named_and_holds_up_no_other(plane: Plane, value: str, fault: str) -> None:
    """In the list, beside those that can be read, which fire."""
    await forged(plane, value)
    broken, sound = await plane.schedules.list()
    assert fault in (broken.fault or "")
    assert sound.fault is None
    await plane.round(5 * MINUTE)
    assert (await plane.told("broken"), await plane.told("sound")) == ([], [(5, "fired", "due", 1)])
    assert (await plane.schedule("broken")).next_fire_at == MIDNIGHT + 5 * MINUTE


@pytest.mark.parametrize("operation", READS_IT)
async def test_what_needs_its_definition_is_refused(plane: Plane, operation: str) -> None:
    """With what is wrong, and what can be done about it; nothing is written."""
    await forged(plane)
    with pytest.raises(ScheduleUnreadable, match=f"broken can't be read .{FAULT}.: delete it, or replace"):
        await READS_IT[operation](plane)
    assert (await events(plane), await stored(plane)) == ([], [{}])


async def test_it_can_be_paused(plane: Plane) -> None:
    """The one fire time that is known to be due is recorded, and what the row holds stays as it is."""
    await forged(plane, NEWER)
    before = await stored(plane)
    plane.clock.advance(12 * MINUTE)
    assert await plane.schedules.pause("broken", USER) is Verdict.ACCEPTED
    assert await plane.schedules.pause("broken", USER) is Verdict.ALREADY_APPLIED
    broken = await plane.schedule("broken")
    assert (broken.paused_at, broken.next_fire_at) == (MIDNIGHT + 12 * MINUTE, None)
    assert await plane.told("broken") == [(5, "skipped", "edited", 1)]
    assert await events(plane) == [("schedule_paused", USER.actor, USER.reason)]
    assert await stored(plane) == before


async def test_a_pause_ends_the_lines_in_the_log(plane: Plane, caplog: pytest.LogCaptureFixture) -> None:
    """Until then each round says which schedule does not fire, and why."""
    await forged(plane)
    with caplog.at_level(logging.ERROR):
        await plane.round(5 * MINUTE)
        assert caplog.messages == [f"schedule broken can't be read, and does not fire: {FAULT}"]
        await plane.schedules.pause("broken", USER)
        caplog.clear()
        await plane.round(5 * MINUTE)
        assert caplog.messages == []


async def test_it_can_be_deleted(plane: Plane) -> None:
    """With an event; what was due and what waited are recorded as skipped, and its backfills have ended."""
    await plane.round(5 * MINUTE)
    await plane.round(5 * MINUTE)
    await plane.backfills.request("broken", WANTED, asked("past"))
    await forged(plane)
    plane.clock.advance(5 * MINUTE)
    await plane.schedules.delete("broken", USER)
    assert [one.name for one in await plane.schedules.list()] == ["sound"]
    assert await plane.told("broken") == [
        (5, "fired", "due", 1),
        (10, "skipped", "edited", 1),
        (15, "skipped", "edited", 1),
    ]
    names = [name for name, _, _ in await events(plane)]
    assert names == ["schedule_backfill_started", "schedule_deleted", "schedule_backfill_ended"]
    assert [one.ending for one in await plane.backfills.list("broken")] == [Ending.DELETED]


async def test_a_whole_definition_mends_it(plane: Plane) -> None:
    """It fires by that from then on, and starts where it was created."""
    await forged(plane)
    plane.clock.advance(7 * MINUTE)
    mended = await plane.schedules.edit("broken", definition("*/10 * * * *", starts_at=None), USER)
    assert (mended.fault, mended.definition.timing.starts_at) == (None, MIDNIGHT)
    assert await plane.schedule("broken") == mended
    await plane.round(3 * MINUTE)
    assert await plane.told("broken") == [(5, "skipped", "edited", 1), (10, "fired", "due", 1)]


async def test_a_start_of_its_program_leaves_it_alone(plane: Plane) -> None:
    """And says so; the others are synced."""
    await forged(plane)
    broken, sound = await synced(plane)
    assert (broken.action.value, sound.action.value) == ("failed", "conflict")
    assert (FAULT in (broken.error or ""), broken.again) == (True, False)
    assert await stored(plane) == [{}]


async def test_its_code_has_its_way_by_force(plane: Plane) -> None:
    """A dry run says so and changes nothing."""
    await forged(plane)
    [would, _] = await synced(plane, force=True, dry_run=True)
    assert (would.action.value, await stored(plane)) == ("edited", [{}])
    [did, _] = await synced(plane, force=True)
    assert did == would
    assert (await plane.schedule("broken")).fault is None
    assert (await synced(plane))[0].action.value == "unchanged"


async def test_a_pause_of_an_older_version_keeps_what_it_does_not_know(plane: Plane) -> None:
    """It writes where the schedule stands, and not how it is defined."""
    await forged(plane, """definition || '{"colour": "red"}'""")
    await plane.schedules.pause("broken", USER)
    await plane.schedules.resume("broken", USER)
    [kept] = await stored(plane)
    assert kept["colour"] == "red"


async def test_a_backfill_that_nobody_can_read_ends_with_the_reason(
    plane: Plane, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, by whoever comes first, and the others go on."""
    for name in ("broken", "sound"):
        await plane.backfills.request(name, WANTED, asked("past"))
    await unread_backfill(plane)
    assert [one.timing.fault for one in await plane.backfills.list("broken")] == [FAULT]
    with caplog.at_level(logging.WARNING):
        while (await plane.backfills.advance(25)).full:
            pass
    [broken], [sound] = await plane.backfills.list("broken"), await plane.backfills.list("sound")
    assert (broken.ending, broken.fired, sound.ending) == (Ending.STOPPED, 0, Ending.DONE)
    reason = f"its fire times are unknown: {FAULT}"
    assert (await events(plane))[1:] == [("schedule_backfill_ended", "schedule:broken", reason)]
    assert caplog.messages == []


async def test_a_backfill_that_nobody_can_read_can_be_stopped(plane: Plane) -> None:
    """By people, when no scheduler runs."""
    requested = await plane.backfills.request("broken", WANTED, asked("past"))
    await unread_backfill(plane)
    assert await plane.backfills.stop(requested.backfill.backfill_id, USER) is Verdict.ACCEPTED
    assert [one.ending for one in await plane.backfills.list("broken")] == [Ending.STOPPED]
