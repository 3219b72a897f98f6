"""How fast one scheduler decides what is due: ten thousand schedules in one minute, and a thousand spread over each."""

import asyncio
import random
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import uvloop
from ground.asking import ask, rows, until
from ground.bench import Bench, Outcome
from ground.filling import settle
from ground.history import percentiles
from ground.numbers import median
from ground.processes import QUEUE, command, until_idle, worker

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.schedule_store import PostgresScheduleStore
from fencepost.domain.commands import Origin
from fencepost.domain.job import Specification
from fencepost.domain.schedule import Definition, Overlap, Policies, Timing

BURST, BURST_RUNS = 10_000, 3
SPREAD, SPREAD_RUNS, SPREAD_SECONDS = 1_000, 3, 60.0
CREATORS, PACE = 8, timedelta(milliseconds=8)
"""Sessions that create schedules, and the time that one takes at most."""
START = timedelta(seconds=15)
"""Enough for a scheduler to come up and be idle."""
MINUTE = timedelta(minutes=1)
ZONES = ("UTC", "Europe/Oslo", "America/New_York", "Asia/Tokyo")
"""Whole hours apart: what is due in a minute of one is due in all."""
ORIGIN = Origin("user:bench", "bench")
UP = """(SELECT count(*) > 0 FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(application_name, 'fencepost'))"""
DECIDED = "NOT EXISTS (SELECT FROM fencepost.schedules WHERE next_fire_at <= '{}')"
LATE = """
SELECT extract(epoch FROM e.at - j.scheduled_for) * 1000
FROM fencepost.job_events AS e JOIN fencepost.jobs AS j USING (job_id)
WHERE e.name = %s AND j.scheduled_for >= %s
"""


def firing_burst(bench: Bench) -> Outcome:
    """Measure from the fire time of all until the last decision is committed, to 20 ms."""
    number = bench.options.jobs or BURST
    took = []
    for _ in bench.runs(BURST_RUNS):
        with bench.database() as dsn:
            due, over = _burst(dsn, number)
            took.append((over - due).total_seconds())
    value = median(took)
    each = None if value is None else value / number * 1e6
    return Outcome(value=value, unit="s", details={"schedules": number, "us_each": each, "runs": took})


def firing_lateness(bench: Bench) -> Outcome:
    """Measure from each fire time until its job is enqueued; beside it until a worker has claimed it.

    The same for as many at one instant stands beside it, too.
    """
    number, seconds = bench.options.jobs or SPREAD, bench.options.seconds or SPREAD_SECONDS
    found: dict[str, list[dict[str, float]]] = {"enqueued": [], "claimed": [], "at_once": []}
    for run in bench.runs(SPREAD_RUNS):
        with bench.database() as dsn:
            since = _spread(dsn, number, seconds, random.Random(run))
            for name in ("enqueued", "claimed"):
                found[name].append(percentiles(_late(dsn, name, since)))
        with bench.database() as dsn:
            due, _ = _burst(dsn, number)
            found["at_once"].append(percentiles(_late(dsn, "enqueued", due)))
    figures = {
        f"{name}_{part}": median(run[part] for run in runs)
        for name, runs in found.items()
        for part in ("p50", "p99")
    }
    value = figures.pop("enqueued_p99")
    return Outcome(value=value, unit="ms, p99", details={**figures, "schedules": number, "runs": found})


def _burst(dsn: str, number: int) -> tuple[datetime, datetime]:
    """Let so many schedules come due in the same minute; return which, and when all are decided."""
    due = _full_minute(ask(dsn, "SELECT clock_timestamp()") + number * PACE + START)
    uvloop.run(_create(dsn, {f"burst-{index}": _due_at(due, index) for index in range(number)}))
    settle(dsn)
    if ask(dsn, "SELECT clock_timestamp()") > due - START / 3:
        raise TimeoutError("it took too long to create the schedules")
    with command(dsn, "scheduler") as scheduler:
        until(dsn, UP, alive=scheduler.alive)
        until(dsn, f"clock_timestamp() > '{due}'", alive=scheduler.alive)
        until(dsn, DECIDED.format(due), alive=scheduler.alive)
        return due, ask(dsn, "SELECT clock_timestamp()")


def _spread(dsn: str, number: int, seconds: float, draw: random.Random) -> datetime:
    """Let so many schedules fire once a minute each, at random moments of it; return from when on it counts."""
    began = ask(dsn, "SELECT clock_timestamp()")
    starts = [began + draw.random() * MINUTE for _ in range(number)]
    uvloop.run(_create(dsn, {f"spread-{index}": _every_minute(start) for index, start in enumerate(starts)}))
    settle(dsn)
    with command(dsn, "scheduler") as scheduler, worker(dsn, 100) as process:
        until(dsn, UP, alive=scheduler.alive)
        until_idle(dsn, process)
        since: datetime = ask(dsn, "SELECT clock_timestamp() + interval '5 s'")
        over = since + timedelta(seconds=seconds)
        until(dsn, f"clock_timestamp() > '{over}'", alive=scheduler.alive, every=0.5)
    return since


def _late(dsn: str, event: str, since: datetime) -> list[float]:
    """Return the milliseconds from each fire time to an event of its job."""
    return [float(value) for (value,) in rows(dsn, LATE, [event, since])]


def _full_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0) + MINUTE


def _due_at(due: datetime, index: int) -> Definition:
    """Return one of some hundred schedules that are due in this minute of the hour."""
    minutes = sorted({due.minute, (due.minute + 2 + index % 57) % 60})
    return _definition(
        cron=f"{','.join(map(str, minutes))} * * * *", tz=ZONES[index % len(ZONES)], starts_at=due
    )


def _every_minute(start: datetime) -> Definition:
    return _definition(cron="every 1m", starts_at=start)


def _definition(**timing: Any) -> Definition:
    return Definition(
        timing=Timing(**timing),
        template=Specification(type="noop", queue=QUEUE, payload='{"number":1}'),
        policies=Policies(overlap=Overlap.ALLOW),
    )


async def _create(dsn: str, definitions: Mapping[str, Definition]) -> None:
    """Create schedules, several at a time."""
    database = Database(dsn, pool_size=CREATORS)
    store = PostgresScheduleStore(database)

    async def each(portion: Iterable[str]) -> None:
        for name in portion:
            await store.create(name, definitions[name], ORIGIN)

    names = list(definitions)
    await asyncio.gather(*(each(names[start::CREATORS]) for start in range(CREATORS)))
    await database.close()
