"""PgQueuer: Python, asyncio, asyncpg; batch dequeue, buffered completion; LISTEN/NOTIFY."""

import asyncio
import json
import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import asyncpg
import uvloop
from adapter import Adapter, payload
from handler import Recorder
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

BULK = 5000
BATCH = int(os.environ.get("PEER_CONCURRENCY", "100"))
REC = Recorder()


def body(seq: int) -> bytes:
    return json.dumps(payload(seq)).encode()


class Peer(Adapter):
    """One process."""

    name = package = "pgqueuer"
    drain_jobs = 100_000
    settings = (
        f"enqueue(list) {BULK}/call; batch_size {BATCH}, no further cap (its default), one direct asyncpg connection, "
        "durable tables, its own autovacuum settings; uvloop"
    )
    profiles: ClassVar[dict[str, Any]] = {
        "best": {},
        "quick": {"heartbeat_timeout": timedelta(seconds=2), "dequeue_timeout": timedelta(seconds=1)},
    }
    done_sql = "select count(*) from pgqueuer_log where status = 'successful'"

    async def setup(self) -> None:
        conn = await asyncpg.connect(self.url)
        q = Queries(AsyncpgDriver(conn))
        await q.install()
        if hasattr(q, "optimize_autovacuum"):
            await q.optimize_autovacuum()
        await conn.close()

    async def open(self) -> None:
        self.conn = await asyncpg.connect(self.url)
        self.q = Queries(AsyncpgDriver(self.conn))

    async def close(self) -> None:
        await self.conn.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, BULK):
            ids = range(lo, min(lo + BULK, first + n))
            await self.q.enqueue(["peer"] * len(ids), [body(i) for i in ids], [0] * len(ids))
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.q.enqueue("peer", body(seq))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        # the API takes a delay, not a time
        for s, d in zip(seqs, due, strict=True):
            await self.q.enqueue("peer", body(s), execute_after=d - datetime.now(UTC))


async def work(profile: str) -> None:
    pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect(REC.url)))

    @pgq.entrypoint("peer")
    async def peer(job) -> None:
        if REC.begin(json.loads(job.payload)["seq"]):
            await asyncio.sleep(REC.sleep)

    REC.start()
    REC.ready()
    await pgq.run(batch_size=BATCH, **Peer.profiles[profile])


def main(profile: str) -> None:
    uvloop.run(work(profile))
