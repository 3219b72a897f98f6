"""One schedule or backfill that can't be carried out, for whatever reason, holds up no other."""

import logging
from collections.abc import AsyncIterator

import psycopg
import pytest

from fencepost.adapters.postgres.aside import Aside
from fencepost.adapters.postgres.backfill_store import PostgresBackfillStore
from fencepost.adapters.postgres.event_log import PostgresEventLog
from fencepost.adapters.postgres.firing_store import PostgresFiringStore
from fencepost.application.ports.event_log import LogFilter
from fencepost.domain.backfill import Ending, Wanted
from fencepost.domain.commands import Cancel
from fencepost.domain.errors import Unavailable
from fencepost.domain.event import ControlEvent
from fencepost.domain.schedule import Overlap
from support.rig import USER
from support.schedules import MIDNIGHT, MINUTE, Plane, asked, definition, plane_over
from support.stores import Clock

SECOND = MINUTE / 60
WANTED = Wanted(from_at=MIDNIGHT, to_at=MIDNIGHT)
RULE = "ALTER TABLE fencepost.jobs ADD CONSTRAINT no_poison CHECK (type <> 'poison') NOT VALID"
REASON = 'the database refuses it: new row for relation "jobs" violates check constraint "no_poison"'
FAILING = """
CREATE FUNCTION fencepost.fails() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'it broke' USING ERRCODE = '{state}'; END $$;
CREATE TRIGGER fails BEFORE {event} ON fencepost.{table}
FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION fencepost.fails()
"""
MENDED = "DROP FUNCTION IF EXISTS fencepost.fails CASCADE"
POISON = "NEW.type = 'poison'"
LINE = "schedule bad can't be carried out: it broke"


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """It is midnight, and there are two schedules; what is set aside goes by the test's clock."""

    def seconds() -> float:
        return clock.now.timestamp()

    async with plane_over(clocked, clock) as plane:
        plane.firings = PostgresFiringStore(plane.database, Aside(seconds))
        plane.backfills = PostgresBackfillStore(plane.database, Aside(seconds))
        await plane.create("bad", type="poison", overlap=Overlap.QUEUE_ONE)
        await plane.create("sound", overlap=Overlap.QUEUE_ONE)
        yield plane
        await execute(plane, MENDED)
        await execute(plane, "ALTER TABLE fencepost.jobs DROP CONSTRAINT IF EXISTS no_poison")


async def execute(plane: Plane, sql: str) -> None:
    """Somebody changes the database behind Fencepost's back."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        await connection.execute(sql.encode())


async def failing(
    plane: Plane, state: str = "P0001", *, event: str = "INSERT", table: str = "jobs", condition: str = POISON
) -> None:
    """Rows of one schedule can't be written, with an error of this kind."""
    await execute(plane, FAILING.format(state=state, event=event, table=table, condition=condition))


async def events(plane: Plane) -> list[tuple[str, str, str | None]]:
    """Name, actor and reason of what happened to the bad one since it was created."""
    page = await PostgresEventLog(plane.database).page(LogFilter(subject="schedule:bad"))
    found = [one for one in page if isinstance(one, ControlEvent)]
    return [(one.name.value, one.actor, one.reason) for one in found][1:]


async def test_a_schedule_whose_job_the_database_refuses_is_paused_with_the_reason(plane: Plane) -> None:
    """What was due is recorded as skipped, and the other schedule fires."""
    await execute(plane, RULE)
    await plane.fire(5 * MINUTE)
    bad = await plane.schedule("bad")
    assert (bad.paused_at, bad.pause_reason) == (MIDNIGHT + 5 * MINUTE, REASON)
    assert await events(plane) == [("schedule_paused", "schedule:bad", REASON)]
    assert await plane.told("bad") == [(5, "skipped", "edited", 1)]
    assert await plane.told("sound") == [(5, "fired", "due", 1)]


async def test_a_refusal_says_nothing_of_what_jobs_carry(
    plane: Plane, caplog: pytest.LogCaptureFixture
) -> None:
    """The line in the log names the schedule; the server's details show whole rows."""
    await plane.schedules.edit("bad", definition(type="poison", payload='"a secret"'), USER)
    await execute(plane, RULE)
    with caplog.at_level(logging.ERROR):
        await plane.fire(5 * MINUTE)
    assert caplog.messages == [LINE.replace("it broke", REASON.partition(": ")[2])]
    assert "secret" not in caplog.text


async def test_a_refusal_pauses_nothing_while_nobody_gets_a_job(plane: Plane) -> None:
    """It may be the database that takes none at all; as soon as another gets one, it isn't."""
    await execute(plane, RULE)
    await plane.schedules.pause("sound", USER)
    await plane.fire(5 * MINUTE)
    assert (await plane.schedule("bad")).paused_at is None
    await plane.schedules.resume("sound", USER)
    await plane.fire(5 * MINUTE)
    assert (await plane.schedule("bad")).pause_reason == REASON
    assert await plane.told("bad") == [(5, "skipped", "edited", 2)]


async def test_a_failure_that_may_be_anything_pauses_nothing(
    plane: Plane, caplog: pytest.LogCaptureFixture
) -> None:
    """The schedule is passed by for a minute, with one line in the log, and then tried again with all that is due."""
    await failing(plane)
    with caplog.at_level(logging.ERROR):
        await plane.fire(5 * MINUTE)
        for _ in range(5):
            await plane.fire(10 * SECOND)
        assert caplog.messages == [LINE]
        await plane.fire(10 * SECOND)
        assert caplog.messages == [LINE, LINE]
    assert (await plane.told("bad"), await plane.told("sound")) == ([], [(5, "fired", "due", 1)])
    await execute(plane, MENDED)
    await plane.fire(MINUTE)
    assert await plane.told("bad") == [(5, "fired", "missed", 1)]
    assert await events(plane) == []


@pytest.mark.unproven("it forges a row")
async def test_a_row_that_our_own_code_stumbles_over_is_passed_by(plane: Plane) -> None:
    """Another version may know what to do with it: it is not paused."""
    await execute(plane, "UPDATE fencepost.schedules SET open_jobs = '{NULL,1}' WHERE name = 'bad'")
    await plane.fire(5 * MINUTE)
    assert (await plane.schedule("bad")).paused_at is None
    assert (await plane.told("bad"), await plane.told("sound")) == ([], [(5, "fired", "due", 1)])


async def test_an_edit_brings_it_back_at_once(plane: Plane) -> None:
    """Whoever has mended it need not wait."""
    await failing(plane)
    await plane.fire(5 * MINUTE)
    await plane.schedules.edit("bad", definition("* * * * *"), USER)
    await plane.fire(MINUTE)
    assert await plane.told("bad") == [(5, "skipped", "edited", 1), (6, "fired", "due", 1)]


@pytest.mark.parametrize("state", ["40001", "53100", "53200", "55P03", "57014", "57P01", "XX000"])
async def test_what_passes_is_nobody_s_fault(
    plane: Plane, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After a lock that was not granted or a full disk all are as they were, and nothing is set aside."""
    await failing(plane, state)
    with caplog.at_level(logging.ERROR), pytest.raises(Unavailable):
        await plane.fire(5 * MINUTE)
    assert caplog.messages == []
    await execute(plane, MENDED)
    await plane.fire()
    assert await plane.told("bad") == await plane.told("sound") == [(5, "fired", "due", 1)]


async def test_a_pause_that_fails_leaves_it_aside(plane: Plane) -> None:
    """Others go on after that round."""
    await execute(plane, RULE)
    await failing(plane, event="UPDATE", table="schedules", condition="NEW.name = 'bad'")
    with pytest.raises(psycopg.errors.RaiseException):
        await plane.fire(5 * MINUTE)
    await plane.fire()
    await plane.fire(5 * MINUTE)
    assert [minute for minute, *_ in await plane.told("sound")] == [5, 10]
    assert await plane.told("bad") == []


async def test_a_waiting_firing_whose_job_is_refused_is_paused_and_waits_on(plane: Plane) -> None:
    """The other one's job is inserted."""
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    await _all_end(plane)
    await execute(plane, RULE)
    await plane.firings.release(100)
    bad, sound = await plane.schedule("bad"), await plane.schedule("sound")
    assert (bad.pause_reason, bad.waiting is None) == (REASON, False)
    assert (sound.pause_reason, sound.waiting) == (None, None)
    assert [row.job_id is None for row in await plane.ledger("bad")] == [False, True]


async def test_a_waiting_firing_whose_job_can_t_be_inserted_is_passed_by(plane: Plane) -> None:
    """It gets its job later."""
    await plane.fire(5 * MINUTE)
    await plane.fire(5 * MINUTE)
    await _all_end(plane)
    await failing(plane)
    await plane.firings.release(100)
    bad, sound = await plane.schedule("bad"), await plane.schedule("sound")
    assert (bad.paused_at, bad.waiting is None, sound.waiting) == (None, False, None)
    await execute(plane, MENDED)
    plane.clock.advance(MINUTE)
    await plane.firings.release(100)
    assert (await plane.schedule("bad")).waiting is None


async def test_a_next_fire_time_that_can_t_be_moved_holds_up_no_other(plane: Plane) -> None:
    """When the rules of time zones are newer than those it came from."""
    await execute(plane, "UPDATE fencepost.schedules SET tz_version = '2020a'")
    await failing(plane, event="UPDATE", table="schedules", condition="NEW.name = 'bad'")
    assert [await plane.firings.recompute(100) for _ in range(2)] == [2, 0]
    assert await _outdated(plane) == ["bad"]


async def test_a_backfill_whose_job_is_refused_ends_with_the_reason(plane: Plane) -> None:
    """The other one is carried out."""
    await _backfills(plane)
    await execute(plane, RULE)
    await _advance(plane)
    [bad], [sound] = await plane.backfills.list("bad"), await plane.backfills.list("sound")
    assert (bad.ending, bad.decided, sound.ending) == (Ending.STOPPED, 0, Ending.DONE)
    assert (await events(plane))[1:] == [("schedule_backfill_ended", "schedule:bad", REASON)]


async def test_a_backfill_that_fails_otherwise_is_passed_by(
    plane: Plane, caplog: pytest.LogCaptureFixture
) -> None:
    """For a minute, with one line in the log; the other one is carried out."""
    await _backfills(plane)
    await failing(plane)
    with caplog.at_level(logging.ERROR):
        await _advance(plane)
        await _advance(plane)
    assert caplog.messages == ["a backfill of schedule bad can't be carried out: it broke"]
    [bad], [sound] = await plane.backfills.list("bad"), await plane.backfills.list("sound")
    assert (bad.ending, sound.ending) == (None, Ending.DONE)
    await execute(plane, MENDED)
    plane.clock.advance(MINUTE)
    await _advance(plane)
    assert [one.ending for one in await plane.backfills.list("bad")] == [Ending.DONE]


async def test_a_backfill_waits_for_what_passes(plane: Plane) -> None:
    """A disk that is full ends nothing."""
    await _backfills(plane)
    await failing(plane, "53100")
    with pytest.raises(Unavailable):
        await plane.backfills.advance(25)
    await execute(plane, MENDED)
    await _advance(plane)
    assert [one.ending for one in await plane.backfills.list("bad")] == [Ending.DONE]


async def _all_end(plane: Plane) -> None:
    """All jobs that are there are cancelled."""
    for job in await plane.all_jobs():
        await plane.jobs.operate([job.job_id], Cancel(origin=USER))


async def _backfills(plane: Plane) -> None:
    """One of each schedule, the bad one's first."""
    for name in ("bad", "sound"):
        await plane.backfills.request(name, WANTED, asked(name))
        plane.clock.advance(SECOND)


async def _advance(plane: Plane) -> None:
    """Go on as long as there may be more."""
    while (await plane.backfills.advance(25)).full:
        pass


async def _outdated(plane: Plane) -> list[str]:
    """Whose next fire time still comes from old rules."""
    async with await psycopg.AsyncConnection.connect(plane.dsn, autocommit=True) as connection:
        found = await connection.execute(
            "SELECT name FROM fencepost.schedules WHERE tz_version = '2020a' ORDER BY name"
        )
        return [name for (name,) in await found.fetchall()]
