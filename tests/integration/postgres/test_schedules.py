"""Schedules on PostgreSQL: changes are decisions, too, and nothing changes without its event."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TypeVar

import psycopg
import pytest

from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.adapters.postgres.query import Plan, Rows
from fencepost.adapters.postgres.schedule_statements import schedule_statements
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.errors import ScheduleExists, ScheduleNotFound, VersionConflict
from fencepost.domain.event import ControlEvent
from fencepost.domain.vocabulary import Verdict
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, NAME, Plane, definition, plane_over
from support.stores import Clock

T = TypeVar("T")


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


async def events(plane: Plane) -> list[tuple[str, str, str | None]]:
    """Subject, name and actor of every control event."""
    page = await PostgresEventLog(plane.database).page(LogFilter())
    return [(one.subject, one.name.value, one.actor) for one in page if isinstance(one, ControlEvent)]


async def test_a_schedule_is_read_as_it_was_created(plane: Plane) -> None:
    """With its template, byte for byte."""
    created = await plane.create(payload='{"b": 2,  "a": 1}', tz="Europe/Oslo", jitter=MINUTE)
    assert await plane.schedule() == created
    assert created.definition.template.payload == '{"b": 2,  "a": 1}'
    assert created.next_fire_at == MIDNIGHT + 5 * MINUTE


async def test_creating_the_same_schedule_again_changes_nothing(plane: Plane) -> None:
    """As a program does at each of its starts."""
    assert await plane.create() == await plane.create()
    assert await events(plane) == [("schedule:report", "schedule_created", "user:test")]


async def test_a_create_that_loses_to_a_create_and_a_delete_creates(plane: Plane) -> None:
    """What was in its way for a moment is gone, and is no answer."""
    await plane.create("other")
    plan = meddled(plane, plane.schedules._create(NAME, definition(), USER))
    created = await plane.database.run(lambda: plan)
    assert (created.is_new, await plane.schedule()) == (True, created.schedule)
    assert (await events(plane))[1:] == [("schedule:report", "schedule_created", "user:test")]


CREATE = """
INSERT INTO fencepost.schedules
SELECT (jsonb_populate_record(s, '{"name": "report"}')).* FROM fencepost.schedules AS s WHERE name = 'other'
"""
DELETE = "DELETE FROM fencepost.schedules WHERE name = 'report'"


def meddled(plane: Plane, plan: Plan[T]) -> Plan[T]:
    """Run the plan of a create while somebody creates before it inserts, and deletes before it looks again."""
    statements = schedule_statements(plane.database.schema)
    acts = [(statements.insert, CREATE), (statements.lock, DELETE)]
    rows: Rows | None = None
    while True:
        try:
            query = next(plan) if rows is None else plan.send(rows)
        except StopIteration as end:
            assert acts == []
            answer: T = end.value
            return answer
        if acts and query.statement is acts[0][0]:
            with psycopg.connect(plane.dsn, autocommit=True) as somebody:
                somebody.execute(acts.pop(0)[1].encode())
        rows = yield query


async def test_another_schedule_of_the_same_name_is_refused(plane: Plane) -> None:
    """An edit says that it is one."""
    await plane.create()
    with pytest.raises(ScheduleExists):
        await plane.create(cron="0 * * * *")


async def test_schedules_are_listed_by_name(plane: Plane) -> None:
    """Page by page."""
    for name in ("b", "a", "c"):
        await plane.create(name)
    assert [one.name for one in await plane.schedules.list(limit=2)] == ["a", "b"]
    assert [one.name for one in await plane.schedules.list(after="b")] == ["c"]


async def test_an_edit_counts_from_now_on(plane: Plane) -> None:
    """B065: no slot of the old expression fires after the edit."""
    await plane.create()
    plane.clock.advance(7 * MINUTE)
    edited = await plane.schedules.edit(NAME, definition("0 12 * * *"), USER)
    assert edited.next_fire_at == MIDNIGHT + timedelta(hours=12)
    await plane.fire(timedelta(hours=1))
    assert await plane.told() == [(5, "skipped", "edited", 1)]


async def test_an_edit_of_an_older_version_is_refused(plane: Plane) -> None:
    """Somebody else was faster."""
    await plane.create()
    await plane.schedules.edit(NAME, definition("0 * * * *"), USER, version=1)
    with pytest.raises(VersionConflict):
        await plane.schedules.edit(NAME, definition("30 * * * *"), USER, version=1)


async def test_an_edit_that_changes_nothing_is_none(plane: Plane) -> None:
    """The version stays."""
    await plane.create()
    assert (await plane.schedules.edit(NAME, definition(), USER)).version == 1


async def test_paused_time_is_not_missed_time(plane: Plane) -> None:
    """B064: after thirty days the first firing is the next one."""
    await plane.create(cron="* * * * *")
    assert await plane.schedules.pause(NAME, USER) is Verdict.ACCEPTED
    assert await plane.schedules.pause(NAME, USER) is Verdict.ALREADY_APPLIED
    await plane.fire(timedelta(days=30))
    assert await plane.schedules.resume(NAME, USER) is Verdict.ACCEPTED
    assert await plane.schedules.resume(NAME, USER) is Verdict.ALREADY_APPLIED
    await plane.fire()
    assert await plane.told() == []
    await plane.fire(MINUTE)
    assert await plane.told() == [(30 * 24 * 60 + 1, "fired", "due", 1)]
    assert [name for _, name, _ in await events(plane)] == [
        "schedule_created",
        "schedule_paused",
        "schedule_resumed",
    ]


async def test_nothing_fires_after_a_pause(plane: Plane) -> None:
    """What was due and not decided yet is skipped."""
    await plane.create()
    plane.clock.advance(11 * MINUTE)
    await plane.schedules.pause(NAME, USER)
    await plane.fire()
    assert await plane.told() == [(5, "skipped", "edited", 2)]
    assert await plane.all_jobs() == []


async def test_a_schedule_made_anew_fires_no_slot_again(plane: Plane) -> None:
    """B063: deleted and created at the same fire time, though the clock was set back in between."""
    await plane.create()
    await plane.fire(5 * MINUTE)
    await plane.schedules.delete(NAME, USER)
    plane.clock.advance(-MINUTE)
    await plane.create()
    await plane.fire(MINUTE)
    assert len(await plane.all_jobs()) == 1
    assert await plane.told() == [(5, "fired", "due", 1)]
    assert (await plane.schedule()).next_fire_at == MIDNIGHT + 10 * MINUTE


async def test_what_is_not_there_cannot_be_changed(plane: Plane) -> None:
    """Every change says so."""
    for change in (
        plane.schedules.edit(NAME, definition(), USER),
        plane.schedules.pause(NAME, USER),
        plane.schedules.resume(NAME, USER),
        plane.schedules.delete(NAME, USER),
    ):
        with pytest.raises(ScheduleNotFound):
            await change
    assert await plane.schedules.get(NAME) is None
