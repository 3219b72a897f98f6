"""How long jobs whose worker was killed wait for another start."""

import asyncio
import time
from typing import Any

from adapter import Adapter
from worker import Worker

from scenarios.options import Options

JOBS = 50
PATIENCE = 20.0
RUNNING = 2.0  # seconds that all jobs run before the kill


async def crash(adapter: Adapter, options: Options) -> dict[str, Any]:
    """Kill the worker while all jobs run; a second one starts at once."""
    await adapter.open()
    await adapter.enqueue_bulk(0, JOBS)
    await adapter.close()
    first = Worker(adapter, profile=options.profile, mode="sleep")
    second = None
    try:
        await _all_started(first)
        await asyncio.sleep(RUNNING)
        killed = time.monotonic_ns()
        first.kill()
        second = Worker(adapter, profile=options.profile, mode="sleep")
        again = await _restarts(second, killed, options.crash_limit)
    finally:
        for worker in filter(None, (first, second)):
            worker.stop()
    return {
        "restarted": len(again),
        "limit_s": options.crash_limit,
        "first_s": again[0] if again else None,
        "all_s": again[-1] if len(again) >= JOBS else None,
    }


async def _all_started(worker: Worker) -> None:
    await worker.wait_ready()
    limit = time.monotonic() + PATIENCE
    while (started := len({seq for seq, _ in worker.stamps()})) < JOBS:
        if time.monotonic() > limit:
            raise RuntimeError(f"only {started} of {JOBS} started\n{worker.tail()}")
        await asyncio.sleep(0.1)


async def _restarts(worker: Worker, killed: int, limit: float) -> list[float]:
    """Return the seconds from the kill to each job's next start, in order."""
    await worker.wait_ready()
    while True:
        first = dict(reversed(worker.stamps()))  # of several starts the first one stays
        if len(first) >= JOBS or time.monotonic_ns() > killed + limit * 1e9:
            return sorted((ns - killed) / 1e9 for ns in first.values())
        await asyncio.sleep(0.2)
