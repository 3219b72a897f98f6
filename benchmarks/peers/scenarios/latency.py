"""From a commit to the handler's first line, and from a due time to it."""

import asyncio
import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from adapter import Adapter
from worker import Worker

from scenarios.common import quantile, settle
from scenarios.options import Options

JOBS = 200
WARM_UP = 20
GAP = 0.02
SETTLED = 1.5  # seconds until a worker that has started is idle
DUE = (5, 15)
PATIENCE = 35.0


async def latency(adapter: Adapter, _options: Options) -> dict[str, Any]:
    """An idle worker, and single enqueues at irregular intervals."""
    await adapter.open()
    settle(adapter)
    worker = Worker(adapter, mode="stamp")
    try:
        await worker.wait_ready()
        await asyncio.sleep(SETTLED)
        for seq in range(-WARM_UP, 0):  # first use of connections and plans
            await adapter.enqueue_one(seq)
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        sent = {}
        for seq in range(JOBS):
            sent[seq] = await adapter.enqueue_one(seq)
            await asyncio.sleep(GAP * random.uniform(0.8, 1.2))
        started = await _started(worker, 10.0)
    finally:
        worker.stop()
    await adapter.close()
    after = [(started[seq] - sent[seq][1]) / 1e6 for seq in started]
    before = [(started[seq] - sent[seq][0]) / 1e6 for seq in started]
    percentiles = {f"p{q}_ms": quantile(after, q / 100) for q in (50, 95, 99)}
    return {"started": len(started), **percentiles, "from_call_p50_ms": quantile(before, 0.5)}


async def delayed(adapter: Adapter, options: Options) -> dict[str, Any]:
    """How late jobs start that are due at random times."""
    await adapter.open()
    settle(adapter)
    worker = Worker(adapter, profile=options.profile, mode="stamp")
    try:
        await worker.wait_ready()
        await asyncio.sleep(SETTLED)
        chance = random.Random(1)
        base, mono = datetime.now(UTC), time.monotonic_ns()
        offsets = [chance.uniform(*DUE) for _ in range(JOBS)]
        await adapter.enqueue_at(list(range(JOBS)), [base + timedelta(seconds=o) for o in offsets])
        took = (time.monotonic_ns() - mono) / 1e9
        started = await _started(worker, PATIENCE - took)
    finally:
        worker.stop()
    await adapter.close()
    late = [(ns - mono) / 1e6 - offsets[seq] * 1000 for seq, ns in started.items()]
    return {
        "started": len(started),
        "p50_ms": quantile(late, 0.5),
        "p99_ms": quantile(late, 0.99),
        "min_ms": min(late, default=None),
        "enqueue_s": took,
    }


async def _started(worker: Worker, seconds: float) -> dict[int, int]:
    """Wait so long for all jobs; return when each started first."""
    limit = time.monotonic() + seconds
    while True:
        first = {seq: ns for seq, ns in reversed(worker.stamps()) if seq >= 0}
        if len(first) >= JOBS or time.monotonic() > limit:
            return first
        await asyncio.sleep(0.1)
