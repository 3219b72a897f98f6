"""awa: Rust core with Python handlers; append-only ring storage ("queue storage")."""

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import awa
import uvloop
from adapter import PAD, Adapter
from handler import Recorder

BULK = 10_000
WORKERS = int(os.environ.get("PEER_CONCURRENCY", "100"))
REC = Recorder()


@dataclass
class PeerJob:
    """The payload."""

    seq: int
    pad: str


class Peer(Adapter):
    """One process."""

    name, package = "awa", "awa-pg"
    drain_jobs = 40_000
    settings = (
        f"queue storage; enqueue_many_copy {BULK}/call; max_workers 100, claim_batch_size 512, "
        "deadline off (compact claims), poll 50 ms, pool 20"
    )
    profiles: ClassVar[dict[str, Any]] = {
        "best": {},
        "poll": {"promote_interval_ms": 50},
        # its documentation's example for a 5 s detection target
        "quick": {
            "heartbeat_interval_ms": 1000,
            "heartbeat_staleness_ms": 4000,
            "heartbeat_rescue_interval_ms": 1000,
            "leader_election_interval_ms": 500,
        },
    }
    # completions are kept in a ring that is truncated in turn; counts of truncated parts are rolled up
    done_sql = """select coalesce((select sum(completed_count) from awa.receipt_completion_batches), 0)
                       + (select count(*) from awa.done_entries)"""

    async def setup(self) -> None:
        c = awa.AsyncClient(self.url, max_connections=4)
        await c.migrate()
        await c.install_queue_storage(schema="awa")
        await c.close()

    async def open(self) -> None:
        self.c = awa.AsyncClient(self.url, max_connections=4)

    async def close(self) -> None:
        await self.c.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, BULK):
            ids = range(lo, min(lo + BULK, first + n))
            await self.c.enqueue_many_copy([PeerJob(i, PAD) for i in ids], queue="peer")
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.c.insert(PeerJob(seq, PAD), queue="peer")
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            await self.c.insert(PeerJob(s, PAD), queue="peer", run_at=d)


async def work(profile: str) -> None:
    client = awa.AsyncClient(REC.url, max_connections=20)

    @client.task(PeerJob, queue="peer")
    async def peer(job) -> None:
        if REC.begin(job.args.seq):
            await asyncio.sleep(REC.sleep)

    REC.start()
    REC.ready()
    await client.start(
        [{"name": "peer", "max_workers": WORKERS, "claim_batch_size": 512, "deadline_duration_ms": 0}],
        poll_interval_ms=50,
        queue_storage_schema="awa",
        **Peer.profiles[profile],
    )
    await asyncio.Event().wait()


def main(profile: str) -> None:
    uvloop.run(work(profile))
