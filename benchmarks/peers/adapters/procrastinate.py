"""procrastinate: Python, asyncio; one fetch per job; LISTEN/NOTIFY."""

import asyncio
import os
import time
from datetime import datetime
from typing import Any, ClassVar

import procrastinate
import uvloop
from adapter import Adapter, payload
from handler import Recorder

BULK = 1000
CONCURRENCY = int(os.environ.get("PEER_CONCURRENCY", "100"))
POOL = 20
REC = Recorder()


def make_app(url: str, size: int) -> procrastinate.App:
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=url, min_size=size, max_size=size)
    )

    @app.task(name="peer_job", queue="peer")
    async def peer_job(seq: int, pad: str) -> None:
        if REC.begin(seq):
            await asyncio.sleep(REC.sleep)

    app.peer_job = peer_job
    return app


class Peer(Adapter):
    """One process."""

    name = package = "procrastinate"
    drain_jobs = 4_000
    settings = f"batch_defer {BULK}/call; concurrency {CONCURRENCY}, pool {POOL}, LISTEN on, delete_jobs=never; uvloop"
    profiles: ClassVar[dict[str, Any]] = {
        "best": {},
        "poll": {"worker": {"fetch_job_polling_interval": 0.1}},
        # documented recipe: a periodic task that retries stalled jobs
        "quick": {"heartbeat": 1.0, "stalled": 3.0, "cron": "* * * * * */1"},
    }
    done_sql = "select count(*) from procrastinate_jobs where status = 'succeeded' and queue_name = 'peer'"

    async def setup(self) -> None:
        app = make_app(self.url, 1)
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    async def open(self) -> None:
        self.app = make_app(self.url, 1)
        await self.app.open_async()

    async def close(self) -> None:
        await self.app.close_async()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, BULK):
            hi = min(lo + BULK, first + n)
            await self.app.peer_job.batch_defer_async(*(payload(i) for i in range(lo, hi)))
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.app.peer_job.defer_async(**payload(seq))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            await self.app.peer_job.configure(schedule_at=d).defer_async(**payload(s))


async def work(profile: str) -> None:
    p = Peer.profiles[profile]
    app = make_app(REC.url, POOL)
    extra = dict(p.get("worker", {}))
    queues = ["peer"]
    if "cron" in p:
        extra = {"update_heartbeat_interval": p["heartbeat"], "stalled_worker_timeout": p["stalled"]}
        queues.append("rescue")

        @app.periodic(cron=p["cron"])
        @app.task(name="retry_stalled", queue="rescue", queueing_lock="retry_stalled", pass_context=True)
        async def retry_stalled(context, timestamp: int) -> None:
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=p["stalled"]):
                await app.job_manager.retry_job(job)

    REC.start()
    async with app.open_async():
        REC.ready()
        await app.run_worker_async(
            queues=queues,
            concurrency=CONCURRENCY,
            delete_jobs="never",
            install_signal_handlers=False,
            **extra,
        )


def main(profile: str) -> None:
    uvloop.run(work(profile))
