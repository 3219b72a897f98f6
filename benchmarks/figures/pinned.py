"""Throughput and latency while another session holds an old snapshot: dead versions pile up, work must go on."""

import asyncio
import time

import uvloop
from ground.bench import Bench, Outcome
from ground.draining import pause, until_ended
from ground.filling import request
from ground.history import latencies, percentiles, windows
from ground.load import full_load, snapshot
from ground.numbers import median, ratio
from ground.processes import until_idle, worker

from fencepost import Fencepost

SECONDS, WINDOW, STOCK = 60.0, 5.0, 100_000
TICK = 0.01
"""Seconds between two submits under half load."""
CALIBRATION = 6.0


def pinned(bench: Bench) -> Outcome:
    """Measure the last window of a minute at full load, pinned over unpinned."""
    seconds = bench.options.seconds or SECONDS
    window = min(WINDOW, seconds / 3)
    found: dict[bool, list[list[float]]] = {False: [], True: []}
    for held in bench.turns((False, True)):
        with bench.database() as dsn:
            with snapshot(dsn, held):
                full_load(dsn, seconds, bench.options.jobs or STOCK)
            found[held].append(windows(dsn, window)[: int(seconds // window)])
    last = {held: median(rates[-1] for rates in runs) for held, runs in found.items()}
    return Outcome(
        value=ratio(last[True], last[False]),
        unit="x unpinned",
        details={
            "window_s": window,
            "pinned_per_s": last[True],
            "unpinned_per_s": last[False],
            "pinned_windows": found[True],
            "unpinned_windows": found[False],
        },
    )


def pinned_latency(bench: Bench) -> Outcome:
    """Measure the 99th percentile from submit to start at half load, pinned over unpinned."""
    seconds = bench.options.seconds or SECONDS
    rate = _half_load(bench)
    bench.say(f"half load is {rate:.0f} jobs/s")
    found: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for held in bench.turns((False, True)):
        found[held].append(_paced(bench, held, rate, seconds))
    tails = {held: median(run["p99"] for run in runs) for held, runs in found.items()}
    return Outcome(
        value=ratio(tails[True], tails[False]),
        unit="x unpinned",
        details={
            "half_load_per_s": rate,
            "pinned_p99_ms": tails[True],
            "unpinned_p99_ms": tails[False],
            "pinned": found[True],
            "unpinned": found[False],
        },
    )


def _half_load(bench: Bench) -> float:
    """Return half of what one worker completes while one submitter submits as fast as it can beside it."""
    with bench.database() as dsn, worker(dsn) as process:
        until_idle(dsn, process)
        uvloop.run(_flood(dsn, min(CALIBRATION, bench.options.seconds or CALIBRATION)))
        pause(dsn)
        rates = windows(dsn, 1.0)[1:-1]
    return (median(rates) or 0.0) / 2


def _paced(bench: Bench, held: bool, rate: float, seconds: float) -> dict[str, float]:
    """Return what the jobs of one run took, and how many came."""
    with bench.database() as dsn, worker(dsn) as process:
        until_idle(dsn, process)
        with snapshot(dsn, held):
            uvloop.run(_submit_evenly(dsn, rate, seconds))
        until_ended(dsn, process)
        times = latencies(dsn)
    return {**percentiles(times), "jobs_per_s": len(times) / seconds}


async def _flood(dsn: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    async with Fencepost(dsn) as app:

        async def submit() -> None:
            while time.monotonic() < end:
                await app.submit_many([request(number) for number in range(200)])

        await asyncio.gather(submit(), submit())


async def _submit_evenly(dsn: str, rate: float, seconds: float) -> None:
    """Submit what is due every tick; a late tick brings the more."""
    async with Fencepost(dsn) as app:
        began, sent = time.monotonic(), 0
        while (passed := time.monotonic() - began) < seconds:
            due = int(passed * rate) - sent
            if due > 0:
                await app.submit_many([request(number) for number in range(due)])
                sent += due
            await asyncio.sleep(TICK)
