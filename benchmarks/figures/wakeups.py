"""What waking workers costs those who submit: 16 at once, with wake-ups and without."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product

import uvloop
from ground.asking import until
from ground.bench import Bench, Outcome
from ground.draining import pause
from ground.filling import request, submit
from ground.numbers import median, ratio
from ground.processes import until_idle, worker

from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.submitter import PostgresSubmitter
from fencepost.application.submitting import Submitting
from fencepost.domain.commands import Origin

SUBMITTERS, SECONDS, WARM_UP = 16, 10.0, 0.5
BUSY_SLOTS = 10
ORIGIN = Origin("user:bench", "bench")
Scene = Callable[[str], AbstractContextManager[None]]


def wakeups(bench: Bench) -> Outcome:
    """Measure submits per second on over off: a worker that is idle in between, one that is busy, one told in vain."""
    seconds = bench.options.seconds or SECONDS
    rates: dict[str, dict[bool, list[float]]] = {name: {True: [], False: []} for name in SCENES}
    for name, on in bench.turns(tuple(product(SCENES, (True, False)))):
        with bench.database() as dsn, SCENES[name](dsn):
            rates[name][on].append(uvloop.run(_submitted(dsn, seconds, on)))
    ratios = {name: ratio(median(found[True]), median(found[False])) for name, found in rates.items()}
    return Outcome(
        value=min(ratios["idle"] or 0, ratios["busy"] or 0),
        unit="x without wake-ups",
        details={
            **ratios,
            "submitters": SUBMITTERS,
            "on_per_s": {name: median(found[True]) for name, found in rates.items()},
            "off_per_s": {name: median(found[False]) for name, found in rates.items()},
        },
    )


@contextmanager
def _idle(dsn: str) -> Iterator[None]:
    """A worker that runs what is submitted, and waits in between."""
    with worker(dsn) as process:
        until_idle(dsn, process)
        yield


@contextmanager
def _busy(dsn: str) -> Iterator[None]:
    """A worker all of whose slots are taken, and were from the start, so that it never said it was idle."""
    submit(dsn, BUSY_SLOTS, type="nap", payload={"seconds": 3_600.0})
    with worker(dsn, BUSY_SLOTS, app="sleeper:app", settings={"drain_grace": "0s"}) as process:
        running = f"(SELECT count(*) FILTER (WHERE state = 'running') = {BUSY_SLOTS} FROM fencepost.jobs)"
        until(dsn, running, alive=process.alive)
        yield


@contextmanager
def _told_in_vain(dsn: str) -> Iterator[None]:
    """An idle worker whose queue is paused: every submit wakes it, and none gives it work."""
    pause(dsn)
    with _idle(dsn):
        yield


SCENES: dict[str, Scene] = {"idle": _idle, "busy": _busy, "told_in_vain": _told_in_vain}


async def _submitted(dsn: str, seconds: float, on: bool) -> float:
    """Return submits per second of all submitters together."""
    database = Database(dsn, pool_size=SUBMITTERS)
    submitting = Submitting(PostgresSubmitter(database, wakes=on))

    async def submit_until(end: float) -> int:
        number = 0
        while time.monotonic() < end:
            await submitting.submit(request(number), ORIGIN)
            number += 1
        return number

    async def together(length: float) -> int:
        end = time.monotonic() + length
        return sum(await asyncio.gather(*(submit_until(end) for _ in range(SUBMITTERS))))

    await together(WARM_UP)
    number = await together(seconds)
    await database.close()
    return number / seconds
