"""graphile-worker (Node): local queue, batched completion; a completed job's row is deleted."""

from typing import Any, ClassVar

from node_adapter import NodeAdapter

N = 24


class Peer(NodeAdapter):
    """One Node process."""

    name = package = "graphile-worker"
    script = "graphile.cjs"
    drain_jobs = 250_000
    settings = (
        f"addJobs 5000/call; concurrentJobs {N}, localQueue 500, completeJobBatchDelay 0 "
        "(its performance page); completed rows are deleted"
    )
    _worker: ClassVar[dict[str, Any]] = {
        "concurrentJobs": N,
        "maxPoolSize": N + 1,
        "localQueue": {"size": 500},
        "completeJobBatchDelay": 0,
        "failJobBatchDelay": 0,
    }
    profiles: ClassVar[dict[str, Any]] = {
        "best": {"bulk": 5000, "worker": _worker},
        "poll": {"bulk": 5000, "worker": {**_worker, "pollInterval": 100}},
    }
    total = 0

    async def enqueue_bulk(self, first: int, n: int) -> float:
        out = await super().enqueue_bulk(first, n)
        self.total += n
        return out

    async def done(self):
        left = self.admin().execute("select count(*) from graphile_worker._private_jobs").fetchone()[0]
        return self.total - left
