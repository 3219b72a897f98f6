"""Throughput while another session's snapshot keeps vacuum from removing anything."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import psycopg
from adapter import Adapter
from worker import Worker

from scenarios.common import settle
from scenarios.options import Options

WINDOW = 5.0
LEAST_STOCK = 2_000
LEAST_TOP_UP = 500


async def pinned(adapter: Adapter, options: Options) -> dict[str, Any]:
    """As drain, but the stock is kept at its first size; handler starts per second of each window."""
    stock = options.jobs or max(LEAST_STOCK, adapter.drain_jobs)
    await adapter.open()
    await adapter.enqueue_bulk(0, stock)
    settle(adapter)
    with _snapshot(adapter.url):
        worker = Worker(adapter)
        try:
            began = await worker.wait_ready()
            marks, busy = await _watched(adapter, worker, stock, began, options.pinned_seconds)
            handled, recorded = worker.count(), await adapter.done()
        finally:
            worker.stop()
    await adapter.close()
    rates = [(later[1] - mark[1]) / ((later[0] - mark[0]) / 1e9) for mark, later in pairwise(marks)]
    return {
        "first_per_s": rates[0],
        "last_per_s": rates[-1],
        "ratio": rates[-1] / rates[0],
        "windows": rates,
        "handled": handled,
        "recorded": recorded,
        "stock": stock,
        "producer_busy_s": busy,
    }


@contextmanager
def _snapshot(url: str) -> Iterator[None]:
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("select count(*) from pg_class")
        yield
        connection.rollback()


async def _watched(
    adapter: Adapter, worker: Worker, stock: int, began: int, seconds: float
) -> tuple[list[tuple[int, int]], float]:
    """Return (monotonic ns, handlers started) at each window's border, and the seconds spent on topping up."""
    sent, busy, marks = stock, 0.0, [(time.monotonic_ns(), worker.count())]
    next_mark = began + WINDOW * 1e9
    while time.monotonic_ns() < began + seconds * 1e9 + 2e8:
        await asyncio.sleep(0.1)
        now, seen = time.monotonic_ns(), worker.count()
        if now >= next_mark:
            marks.append((now, seen))
            next_mark += WINDOW * 1e9
        short = seen + stock - sent
        if short >= LEAST_TOP_UP:
            busy += await adapter.enqueue_bulk(sent, short)
            sent += short
        if worker.ended:
            raise RuntimeError(worker.tail())
    return marks, busy
