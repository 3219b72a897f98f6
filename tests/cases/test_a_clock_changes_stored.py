"""B009, B022, B024: what PostgreSQL keeps of moments around a change of the clock, and what is due when."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from uuid import uuid4

import psycopg
import pytest

from fencepost.adapters.postgres.firing_store import PostgresFiringStore
from fencepost.adapters.postgres.queue_store import PostgresQueueStore
from fencepost.adapters.postgres.submitter import PostgresSubmitter
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain.recurrence import recurrence
from fencepost.domain.schedule import Timing, fire_times
from fencepost.domain.scheduling import check_timing
from fencepost.domain.zones import zone
from support.cron_asking import local
from support.rig import WORKER, submission
from support.schedules import NAME, Plane, plane_over
from support.stores import Clock

NEW_YORK = "America/New_York"
FIRST_PASS = datetime(2025, 11, 2, 1, 45, tzinfo=zone("tz", NEW_YORK))
"""05:45Z"""
SECOND_PASS = datetime(2025, 11, 2, 1, 15, tzinfo=zone("tz", NEW_YORK), fold=1)
"""06:15Z, half an hour later, though the wall clock shows less."""


@pytest.fixture
async def plane(clocked: str, clock: Clock) -> AsyncIterator[Plane]:
    """The scheduling plane; there is no schedule."""
    async with plane_over(clocked, clock) as plane:
        yield plane


async def test_several_times_inside_one_gap_are_one_job_for_any_number_of_schedulers(plane: Plane) -> None:
    """B009: four of them ask at the gap's end."""
    plane.clock.now = local(NEW_YORK, "2025-03-08T12:00")
    await plane.create(cron="0,30 2 * * *", tz=NEW_YORK, starts_at=plane.clock.now)
    plane.clock.now = local(NEW_YORK, "2025-03-09T03:00")
    stores = [PostgresFiringStore(plane.database) for _ in range(4)]
    await asyncio.gather(*(store.fire(10) for store in stores))
    await asyncio.gather(*(store.fire(10) for store in stores))
    assert [job.scheduled_for for job in await plane.all_jobs()] == [datetime(2025, 3, 9, 7, tzinfo=UTC)]
    assert (await plane.schedule()).next_fire_at == local(NEW_YORK, "2025-03-10T02:00")


async def test_a_job_of_the_second_pass_is_not_due_in_the_first(plane: Plane) -> None:
    """B022: though its run_at, as a time of the wall clock, has passed."""
    plane.clock.now = FIRST_PASS.astimezone(UTC)
    await PostgresQueueStore(plane.database).register(["default"])
    [answer] = await PostgresSubmitter(plane.database).submit([submission(run_at=SECOND_PASS)])
    request = ClaimRequest(
        queue="default", types=frozenset({"work"}), limit=10, claim_id=str(uuid4()), origin=WORKER
    )
    early = await plane.jobs.claim(request)
    assert (early.jobs, early.next_due_in) == ([], timedelta(minutes=30))
    plane.clock.advance(timedelta(minutes=30))
    assert [job.token.job_id for job in (await plane.jobs.claim(request)).jobs] == [answer.job_id]


def test_fire_times_of_the_second_pass_come_after_the_first() -> None:
    """B022: asked with a moment of the wall clock, and between two such moments."""
    found = recurrence("*/15 1 * * *", NEW_YORK).times(FIRST_PASS)
    assert [f"{moment:%H:%M}" for moment in islice(found, 2)] == ["06:00", "06:15"]
    timing = Timing(cron="*/15 * * * *", tz=NEW_YORK, starts_at=FIRST_PASS, ends_at=SECOND_PASS)
    check_timing(timing)
    before = datetime(2025, 11, 2, tzinfo=zone("tz", NEW_YORK))
    assert [f"{moment:%H:%M}" for moment in fire_times(timing, before)] == ["05:45", "06:00", "06:15"]
    second = Timing(cron="*/15 * * * *", tz=NEW_YORK, starts_at=SECOND_PASS)
    assert f"{next(fire_times(second, before)):%H:%M}" == "06:15"


async def test_a_schedule_between_two_moments_of_the_wall_clock_fires_in_both_passes(plane: Plane) -> None:
    """B022: the start is in the first pass, the end in the second."""
    plane.clock.now = FIRST_PASS.astimezone(UTC) - timedelta(minutes=1)
    await plane.create(cron="*/15 * * * *", tz=NEW_YORK, starts_at=FIRST_PASS, ends_at=SECOND_PASS)
    for _ in range(3):
        await plane.fire(timedelta(minutes=15))
        await plane.end(*await plane.claim())
    assert [f"{row.fire_at:%H:%M}" for row in await plane.ledger()] == ["05:45", "06:00", "06:15"]


async def test_the_database_keeps_the_first_pass_as_its_instant(plane: Plane) -> None:
    """B024: PostgreSQL alone would read that time of the wall clock as the second pass: it never gets one to read."""
    plane.clock.now = local(NEW_YORK, "2025-11-01T12:00")
    await plane.create(cron="30 1 * * *", tz=NEW_YORK, starts_at=plane.clock.now)
    first = datetime(2025, 11, 2, 5, 30, tzinfo=UTC)
    assert (await plane.schedule()).next_fire_at == first
    plane.clock.now = first
    await plane.fire()
    [job] = await plane.all_jobs()
    assert job.run_at == job.scheduled_for == first
    assert [row.fire_at for row in await plane.ledger()] == [first]
    assert _asked(plane.dsn, f"SELECT fire_at FROM fencepost.firings WHERE schedule = '{NAME}'") == first
    cast = f"SELECT CAST('2025-11-02 01:30' AS timestamp) AT TIME ZONE '{NEW_YORK}'"
    assert _asked(plane.dsn, cast) == first + timedelta(hours=1)


def _asked(dsn: str, query: str) -> object:
    """One value, as PostgreSQL gives it to a session in another zone."""
    with psycopg.connect(dsn, options="-c TimeZone=Asia/Kathmandu") as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]
