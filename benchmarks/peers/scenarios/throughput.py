"""Jobs per second into the queue, and out of it."""

from typing import Any

from adapter import Adapter
from cpu import ServerCpu
from worker import Worker

from scenarios.common import settle, until_done
from scenarios.options import Options

ENQUEUED = 50_000
WARM_UP = 100


async def enqueue(adapter: Adapter, options: Options) -> dict[str, Any]:
    """Use the peer's fastest documented public bulk call, over one connection."""
    n = options.jobs or ENQUEUED
    await adapter.open()
    await adapter.enqueue_bulk(-WARM_UP, WARM_UP)
    settle(adapter)
    seconds = await adapter.enqueue_bulk(0, n)
    await adapter.close()
    return {"jobs": n, "per_s": n / seconds}


async def drain(adapter: Adapter, options: Options) -> dict[str, Any]:
    """From the start of the worker's loop until the peer has recorded all jobs as complete."""
    n = options.jobs or adapter.drain_jobs
    await adapter.open()
    await adapter.enqueue_bulk(0, n)
    await adapter.close()
    settle(adapter)
    server = ServerCpu.postgres(adapter.url) if adapter.backend == "postgres" else ServerCpu(None)
    worker = Worker(adapter)
    try:
        began = await worker.wait_ready()
        cpu = worker.cpu(), server.now()
        ended = await until_done(adapter, worker, n, options.limit)
        cpu = worker.cpu() - cpu[0], server.now() - cpu[1]
    finally:
        worker.stop()
    seconds = (ended - began) / 1e9
    return {
        "jobs": n,
        "secs": seconds,
        "per_s": n / seconds,
        "worker_cpu_ms_per_job": cpu[0] * 1000 / n,
        "pg_cpu_ms_per_job": cpu[1] * 1000 / n,
    }
