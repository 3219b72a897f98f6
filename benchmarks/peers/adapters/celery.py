"""Celery on Redis; prefork with two children, results off."""

import os
import sys
import time
from datetime import datetime

import celery
from adapter import payload
from celery.signals import worker_process_init, worker_ready
from handler import Recorder

from adapters.redisbase import RedisAdapter

REC = Recorder()
app = celery.Celery("peer", broker=os.environ.get("PEER_URL", "redis://"))
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=100,
    task_default_queue="peer",
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
)


@worker_process_init.connect
def _child(**_):
    REC.start()


@worker_ready.connect
def _ready(**_):
    REC.ready()


@app.task(name="peer_job")
def peer_job(seq, pad):
    if REC.begin(seq):
        time.sleep(REC.sleep)


class Peer(RedisAdapter):
    """Two prefork children."""

    name, package = "celery+redis", "celery"
    drain_jobs = 15_000
    settings = (
        "apply_async in a loop (no bulk call); prefork 2, prefetch 100, results off, early ack (default)"
    )

    async def open(self) -> None:
        app.conf.broker_url = self.url

    async def close(self) -> None:
        pass

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        with app.producer_or_acquire() as p:
            for i in range(first, first + n):
                peer_job.apply_async(kwargs=payload(i), producer=p)
        self.total += n
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        peer_job.apply_async(kwargs=payload(seq))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            peer_job.apply_async(kwargs=payload(s), eta=d)

    def left(self, r):
        return r.llen("peer") + r.hlen("unacked")

    def worker_cmd(self, profile: str) -> list[str]:
        options = [
            "-c",
            "2",
            "-P",
            "prefork",
            "-l",
            "ERROR",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
        return [sys.executable, "-m", "celery", "-A", "adapters.celery:app", "worker", *options]
