"""dramatiq on Redis; two processes of eight threads."""

import os
import sys
import time
from datetime import UTC, datetime

import dramatiq
from adapter import payload
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import Middleware
from handler import Recorder

from adapters.redisbase import RedisAdapter

REC = Recorder()


class Boot(Middleware):
    """Tells that the worker is there."""

    def after_worker_boot(self, broker, worker):
        REC.start()
        REC.ready()


broker = RedisBroker(url=os.environ.get("PEER_URL", "redis://localhost"))
broker.add_middleware(Boot())
dramatiq.set_broker(broker)


@dramatiq.actor(queue_name="peer")
def peer_job(seq, pad):
    if REC.begin(seq):
        time.sleep(REC.sleep)


class Peer(RedisAdapter):
    """Two processes of threads."""

    name, package = "dramatiq+redis", "dramatiq"
    drain_jobs = 25_000
    settings = "send in a loop (no bulk call); 2 processes x 8 threads (its default threads)"

    async def open(self) -> None:
        self.broker = RedisBroker(url=self.url)
        dramatiq.set_broker(self.broker)
        self.broker.declare_actor(peer_job)
        peer_job.broker = self.broker

    async def close(self) -> None:
        self.broker.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for i in range(first, first + n):
            peer_job.send(**payload(i))
        self.total += n
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        peer_job.send(**payload(seq))
        return t0, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        for s, d in zip(seqs, due, strict=True):
            delay = (d - datetime.now(UTC)).total_seconds() * 1000
            peer_job.send_with_options(kwargs=payload(s), delay=int(delay))

    def left(self, r):
        return r.hlen("dramatiq:peer.msgs")

    def worker_cmd(self, profile: str) -> list[str]:
        return [sys.executable, "-m", "dramatiq", "adapters.dramatiq", "-p", "2", "-t", "8"]
