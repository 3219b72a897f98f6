"""What scenarios share."""

import asyncio
import time

from adapter import Adapter
from worker import Worker

LOOK_EVERY = 0.02


def settle(adapter: Adapter) -> None:
    """Before a timed part: fresh statistics and nothing left to write, the same for every peer on PostgreSQL."""
    if adapter.backend == "postgres":
        adapter.admin().execute("vacuum (analyze)")
        adapter.admin().execute("checkpoint")


async def until_done(adapter: Adapter, worker: Worker, n: int, limit: float) -> int:
    """Wait for n recorded completions and return the monotonic ns; ask the database only when the handlers saw n."""
    end = time.monotonic() + limit
    while worker.count() < n:
        if time.monotonic() > end or worker.ended:
            raise RuntimeError(
                f"only {worker.count()} of {n} handled, {await adapter.done()} recorded\n{worker.tail()}"
            )
        await asyncio.sleep(LOOK_EVERY)
    while await adapter.done() < n:
        if time.monotonic() > end:
            raise RuntimeError(f"{worker.count()} of {n} handled, but only {await adapter.done()} recorded")
        await asyncio.sleep(LOOK_EVERY)
    return time.monotonic_ns()


def quantile(values: list[float], q: float) -> float:
    """Return the value of nearest rank; not a number for none."""
    if not values:
        return float("nan")
    return sorted(values)[round(q * (len(values) - 1))]
