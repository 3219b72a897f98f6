"""absurd: durable execution in SQL functions with a thin Python client; polling."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import uvloop
from absurd_sdk import AsyncAbsurd
from adapter import Adapter, payload
from handler import Recorder

BULK = 1000
CLIENTS = 8
CONCURRENCY = int(os.environ.get("PEER_CONCURRENCY", "12"))
REC = Recorder()


class Peer(Adapter):
    """Eight clients in one process; polling."""

    name, package = "absurd", "absurd-sdk"
    drain_jobs = 10_000
    scenarios = ("enqueue", "drain", "latency", "pinned", "crash")  # spawn takes no start time
    settings = (
        f"no bulk call: spawn_task by pipelined executemany, {BULK}/transaction; {CLIENTS} workers in one process, "
        f"concurrency {CONCURRENCY} each, poll 50 ms; uvloop"
    )
    profiles: ClassVar[dict[str, Any]] = {
        "best": {"poll_interval": 0.05},
        # a short claim kept alive by ctx.heartbeat()
        "quick": {"poll_interval": 0.05, "claim_timeout": 4},
    }
    done_sql = "select count(*) from absurd.t_peer where state = 'completed'"

    async def setup(self) -> None:
        await self._install()
        app = AsyncAbsurd(self.url, queue_name="peer")
        await app.create_queue()
        await app.close()

    async def _install(self) -> None:
        installer = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("absurdctl")),
            "init",
            env={**os.environ, "ABSURD_DATABASE_URL": self.url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _, said = await installer.communicate()
        if installer.returncode:
            raise RuntimeError(said.decode())

    async def open(self) -> None:
        self.conn = await psycopg.AsyncConnection.connect(self.url, autocommit=True)
        self.app = AsyncAbsurd(self.conn, queue_name="peer")
        self.app.register_task("peer_job")(lambda params, ctx: None)

    async def close(self) -> None:
        await self.conn.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        t = time.monotonic()
        for lo in range(first, first + n, BULK):
            ids = range(lo, min(lo + BULK, first + n))
            async with self.conn.transaction(), self.conn.cursor() as cur:
                await cur.executemany(
                    "select absurd.spawn_task(%s, %s, %s, %s)",
                    [("peer", "peer_job", json.dumps(payload(i)), "{}") for i in ids],
                )
        return time.monotonic() - t

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        t0 = time.monotonic_ns()
        await self.app.spawn("peer_job", payload(seq))
        return t0, time.monotonic_ns()


async def work(profile: str) -> None:
    p = dict(Peer.profiles[profile])
    beat = "claim_timeout" in p
    apps = []
    for _ in range(CLIENTS):
        app = AsyncAbsurd(REC.url, queue_name="peer")

        @app.register_task("peer_job")
        async def peer_job(params, ctx):
            if REC.begin(params["seq"]):
                end = time.monotonic() + REC.sleep
                while time.monotonic() < end:
                    await asyncio.sleep(1 if beat else REC.sleep)
                    if beat:
                        await ctx.heartbeat()

        apps.append(app)
    REC.start()
    REC.ready()
    await asyncio.gather(
        *(
            app.start_worker(worker_id=f"{os.getpid()}-{i}", concurrency=CONCURRENCY, **p)
            for i, app in enumerate(apps)
        )
    )


def main(profile: str) -> None:
    uvloop.run(work(profile))
