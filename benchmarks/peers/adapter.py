"""What every peer's adapter offers to the scenarios."""

import importlib.metadata
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import psycopg

HERE = Path(__file__).resolve().parent
PAD = "x" * 72  # with the sequence number and JSON's syntax: about 100 bytes


def payload(seq: int) -> dict[str, Any]:
    """Return a job's payload, the same for every peer."""
    return {"seq": seq, "pad": PAD}


class Adapter:
    """One peer. A subclass fills in the class attributes and the coroutines below.

    ``profiles`` maps a profile's name to settings that the worker's half reads: ``best`` (settings for throughput,
    recovery left at its defaults), ``quick`` (the fastest documented recovery after a crash; not there when the peer
    offers none) and ``poll`` (the peer's own polling for due jobs at 100 ms or less). The driver sets ``profile``
    before ``setup``.
    """

    name = ""
    package = ""  # the distribution whose version is reported
    backend = "postgres"  # or "redis"
    scenarios: tuple[str, ...] = ("enqueue", "drain", "latency", "pinned", "delayed", "crash")
    drain_jobs = 20_000  # enough for 5 s or more on two cores
    settings = ""  # one line for the table of results
    profiles: ClassVar[dict[str, dict[str, Any]]] = {"best": {}}
    profile = "best"

    def __init__(self, url: str) -> None:
        """Remember the peer's own, empty database."""
        self.url = url
        self._admin: psycopg.Connection[Any] | None = None

    async def setup(self) -> None:
        """Create the schema in an empty database."""

    async def teardown(self) -> None:
        """End what ``setup`` has started."""

    async def open(self) -> None:
        """Open the producer's connections."""

    async def close(self) -> None:
        """Close them."""

    async def enqueue_bulk(self, first: int, n: int) -> float:
        """Enqueue the jobs first, …, first + n - 1; return the seconds until all are committed."""
        raise NotImplementedError

    async def enqueue_one(self, seq: int) -> tuple[int, int]:
        """Enqueue one job; return the monotonic ns before the call and after its commit."""
        raise NotImplementedError

    async def enqueue_at(self, seqs: list[int], due: list[datetime]) -> None:
        """Enqueue jobs that may start only at the given (UTC) times."""
        raise NotImplementedError

    done_sql = ""

    async def done(self) -> int:
        """Return how many jobs the peer itself has recorded as complete."""
        row = self.admin().execute(self.done_sql).fetchone()
        assert row
        return int(row[0])

    def admin(self) -> psycopg.Connection[Any]:
        """Return the observer's connection."""
        if self._admin is None:
            self._admin = psycopg.connect(self.url, autocommit=True)
        return self._admin

    def drop_admin(self) -> None:
        """Close the observer's connection."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def helpers(self) -> list[int]:
        """Return the processes that ``setup`` has started and whose CPU time counts as the worker's."""
        return []

    def worker_cmd(self, profile: str) -> list[str]:
        """Return the command that runs one worker until it is killed."""
        return [sys.executable, str(HERE / "run_worker.py"), type(self).__module__, profile]

    def version(self) -> str:
        """Return the installed version."""
        return importlib.metadata.version(self.package)
