"""arq on Redis; asyncio, polling."""

import asyncio
import time
from datetime import datetime

from adapter import payload
from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker, func
from handler import Recorder

from adapters.redisbase import RedisAdapter

REC = Recorder()


async def peer_job(ctx, seq, pad):
    if REC.begin(seq):
        await asyncio.sleep(REC.sleep)


class Peer(RedisAdapter):
    """One process, polling."""

    name, package = "arq+redis", "arq"
    drain_jobs = 12_000
    settings = "enqueue_job, 100 in flight (no bulk call); max_jobs 100, poll_delay 50 ms, results off"

    async def open(self) -> None:
        self.pool = await create_pool(RedisSettings.from_dsn(self.url))

    async def close(self) -> None:
        await self.pool.aclose()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, 100):
            await asyncio.gather(
                *(
                    self.pool.enqueue_job("peer_job", **payload(i))
                    for i in range(lo, min(lo + 100, first + n))
                )
            )
        self.total += n
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.pool.enqueue_job("peer_job", **payload(seq))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            await self.pool.enqueue_job("peer_job", _defer_until=d, **payload(s))

    def left(self, r):
        return r.zcard("arq:queue")


async def work() -> None:
    REC.start()
    w = Worker(
        [func(peer_job, name="peer_job", keep_result=0)],
        redis_settings=RedisSettings.from_dsn(REC.url),
        max_jobs=100,
        poll_delay=0.05,
        handle_signals=False,
        health_check_interval=3600,
    )
    REC.ready()
    await w.async_run()


def main(profile: str) -> None:
    asyncio.run(work())
