"""oban for Python: asyncio, psycopg; batch fetch and batch acknowledgement; LISTEN/NOTIFY."""

import asyncio
import os
import time
from datetime import datetime
from typing import Any, ClassVar

import uvloop
from adapter import Adapter, payload
from handler import Recorder
from oban import Oban, worker
from oban.schema import install

BULK = 1000
LIMIT = int(os.environ.get("PEER_CONCURRENCY", "100"))
REC = Recorder()


@worker(queue="peer", max_attempts=20)
class PeerWorker:
    """The handler."""

    async def process(self, job):
        if REC.begin(job.args["seq"]):
            await asyncio.sleep(REC.sleep)


class Peer(Adapter):
    """One process."""

    name = package = "oban"
    drain_jobs = 15_000
    settings = f"enqueue_many {BULK}/call; queue limit {LIMIT}, pool 10; uvloop"
    profiles: ClassVar[dict[str, Any]] = {
        "best": {},
        "poll": {"stager": {"interval": 0.1}},
        # its rescue is by age alone, so it must be longer than the longest job (30 s here)
        "quick": {"lifeline": {"interval": 1.0, "rescue_after": 31.0}},
    }
    done_sql = "select count(*) from oban_jobs where state = 'completed'"

    async def setup(self) -> None:
        pool = await Oban.create_pool(self.url, min_size=1, max_size=2)
        await install(pool)
        await pool.close()

    async def open(self) -> None:
        self.pool = await Oban.create_pool(self.url, min_size=1, max_size=2)
        self.oban = Oban(pool=self.pool)

    async def close(self) -> None:
        await self.pool.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, BULK):
            ids = range(lo, min(lo + BULK, first + n))
            await self.oban.enqueue_many(PeerWorker.new(payload(i)) for i in ids)
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.oban.enqueue(PeerWorker.new(payload(seq)))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            await self.oban.enqueue(PeerWorker.new(payload(s), scheduled_at=d))


async def work(profile: str) -> None:
    pool = await Oban.create_pool(REC.url, min_size=4, max_size=10)
    REC.start()
    REC.ready()
    async with Oban(pool=pool, queues={"peer": LIMIT}, **Peer.profiles[profile]):
        await asyncio.Event().wait()


def main(profile: str) -> None:
    uvloop.run(work(profile))
