"""Fencepost: Python, asyncio, psycopg; batches, two events or more per job; LISTEN/NOTIFY."""

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from adapter import Adapter, payload
from processes import end, spawn

from adapters.fencepost_app import QUEUE, registered
from fencepost.adapters.postgres.migrations import migrate

BULK = 10_000
SLOTS = int(os.environ.get("PEER_CONCURRENCY", "1000"))
COMMAND = [sys.executable, "-m", "fencepost.entrypoints.cli"]


class Peer(Adapter):
    """A worker process, and a scheduler process beside it as in every deployment: it outlives the worker."""

    name = package = "fencepost"
    drain_jobs = 250_000
    slots = SLOTS
    settings = (
        f"submit_many {BULK}/call, made by requests; `fencepost worker`, one process, {SLOTS} slots; "
        "`fencepost scheduler` beside it (its CPU is in the worker's)"
    )
    profiles: ClassVar[dict[str, dict[str, Any]]] = {
        "best": {},
        # heartbeats follow the lease: a third of it
        "quick": {"lease": timedelta(seconds=1), "reap_every": "200ms"},
    }
    done_sql = "select count(*) from fencepost.jobs where state = 'succeeded'"
    _scheduler: subprocess.Popen[bytes] | None = None

    async def setup(self) -> None:
        """Migrate, and start the scheduler: it has to be there before the worker dies."""
        migrate(self.url)
        every = self.profiles[self.profile].get("reap_every")
        command = [*COMMAND, "scheduler", *(["--reap-every", every] if every else [])]
        with tempfile.NamedTemporaryFile(prefix="peer-fencepost-", suffix=".log") as log:
            self._scheduler = spawn(command, log, {"FENCEPOST_DATABASE_URL": self.url})
            self._wait_for_scheduler(Path(log.name))

    async def teardown(self) -> None:
        """End the scheduler."""
        if self._scheduler is not None:
            end(self._scheduler, 5)

    def _wait_for_scheduler(self, log: Path) -> None:
        assert self._scheduler
        limit = time.monotonic() + 30
        while "scheduler started" not in (said := log.read_text(errors="replace")):
            if self._scheduler.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"the scheduler has not started\n{said}")
            time.sleep(0.01)

    def helpers(self) -> list[int]:
        """Count the scheduler's CPU time as the worker's."""
        return [] if self._scheduler is None else [self._scheduler.pid]

    async def open(self) -> None:
        """Connect."""
        self.app, self.job = registered(self.url, self.profiles[self.profile].get("lease"))
        await self.app.__aenter__()

    async def close(self) -> None:
        """Disconnect."""
        await self.app.close()

    async def enqueue_bulk(self, first: int, n: int) -> float:
        """Submit in batches."""
        began = time.monotonic()
        for start in range(first, first + n, BULK):
            seqs = range(start, min(start + BULK, first + n))
            await self.app.submit_many(self.job.requests(map(payload, seqs)))
        return time.monotonic() - began

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        """Submit one."""
        before = time.monotonic_ns()
        await self.job.submit(**payload(seq))
        return before, time.monotonic_ns()

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        """Submit with ``run_at``."""
        for seq, moment in zip(seqs, due, strict=True):
            await self.job.options(run_at=moment).submit(**payload(seq))

    def worker_cmd(self, profile: str) -> list[str]:
        """Return the command that users run."""
        return [*COMMAND, "worker", "adapters.fencepost_app:app", "--queues", f"{QUEUE}:{self.slots}"]
