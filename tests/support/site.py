"""A site: real workers and schedulers over a real database, what their handlers wrote down, and what the log says."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from attrs import define, field, frozen

from fencepost.adapters.postgres.submitter import SyncPostgresSubmitter
from fencepost.application.ports.submitter import Submission
from fencepost.domain.commands import Origin, Submit
from fencepost.domain.job import Specification

from .commands import Commands, Running
from .polling import eventually

APPS = Path(__file__).parents[1] / "chaos" / "apps"
APP = "effects:app"
PATIENCE = 60.0
HELD_UP = """
SELECT 1 FROM pg_stat_activity
WHERE datname = current_database() AND application_name = %s AND wait_event_type = 'Lock'
"""
FOREIGN = ("FENCEPOST_", "PG", "DATABASE_URL")


@frozen
class Effect:
    """One line that a handler wrote: it ``began``, ``wrote``, ``ended`` or was ``stopped``."""

    job_id: int
    attempt: int
    pid: int
    what: str
    at: float


@define
class Site:
    """Everything about one database; all processes end with the test."""

    dsn: str
    folder: Path
    commands: Commands = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Keep the environment of the tests out."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        ours = {
            "FENCEPOST_DATABASE_URL": self.dsn,
            "CHAOS_FOLDER": str(self.folder),
            "PYTHONPATH": str(APPS),
        }
        self.commands = Commands(self.folder, {**clean, **ours})

    def worker(self, slots: int = 4, *arguments: str, app: str = APP, **environment: str) -> Running:
        """Start a worker, and do not wait for it."""
        queues = ("--queues", f"default:{slots}")
        return self.commands.having(**environment).start("worker", app, *queues, *arguments)

    def workers(self, number: int, slots: int = 4) -> list[Running]:
        """Start workers together and wait until all of them work."""
        started = [self.worker(slots) for _ in range(number)]
        for worker in started:
            worker.said("worker started")
        return started

    def scheduler(self, reap_every: str = "200ms", **environment: str) -> Running:
        """Start a scheduler, and do not wait for it."""
        return self.commands.having(**environment).start("scheduler", "--reap-every", reap_every)

    def submit(
        self, type: str, times: int = 1, payload: Mapping[str, object] | None = None, **specification: Any
    ) -> list[int]:
        """Submit equal jobs and return their ids; ``run_at`` puts them off."""
        run_at = specification.pop("run_at", None)
        given = Specification(type=type, payload=json.dumps(payload or {}), **specification)
        command = Submit(origin=Origin("user:test"), specification=given, run_at=run_at)
        submitter = SyncPostgresSubmitter(self.dsn)
        try:
            return [answer.job_id for answer in submitter.submit([Submission(command)] * times)]
        finally:
            submitter.close()

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement beside all processes."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def now(self) -> datetime:
        """Read the database's clock."""
        [(now,)] = self.ask("SELECT clock_timestamp()")
        assert isinstance(now, datetime)
        return now

    def events(self, job_id: int) -> list[tuple[str, int]]:
        """The names and attempts of a job's events."""
        return self.ask(
            "SELECT name, attempt FROM fencepost.job_events WHERE job_id = %s ORDER BY seq", job_id
        )

    def moment(self, job_id: int, name: str, attempt: int) -> datetime:
        """When an event of one attempt happened, by the database's clock."""
        [(at,)] = self.ask(
            "SELECT at FROM fencepost.job_events WHERE job_id = %s AND name = %s AND attempt = %s",
            *(job_id, name, attempt),
        )
        assert isinstance(at, datetime)
        return at

    def lease_end(self, job_id: int, attempt: int) -> datetime:
        """When the lease ended that was in force at the end of an attempt."""
        [(lease,)] = self.ask(
            "SELECT lease_expires_at FROM fencepost.job_events"
            " WHERE job_id = %s AND attempt = %s AND name <> 'claimed' AND lease_expires_at IS NOT NULL",
            *(job_id, attempt),
        )
        assert isinstance(lease, datetime)
        return lease

    def states(self) -> Counter[str]:
        """How many jobs are in each state."""
        return Counter(dict(self.ask("SELECT CAST(state AS text), count(*) FROM fencepost.jobs GROUP BY 1")))

    def happened(self) -> Counter[str]:
        """How many events there are of each name."""
        return Counter(dict(self.ask("SELECT name, count(*) FROM fencepost.job_events GROUP BY 1")))

    def refused(self, job_id: int) -> list[tuple[str, int]]:
        """The commands and attempts of a job's refused reports."""
        return self.ask(
            "SELECT data ->> 'command', CAST(data ->> 'attempt' AS int) FROM fencepost.control_events"
            " WHERE name = 'report_refused' AND subject = %s ORDER BY position",
            f"job:{job_id}",
        )

    def ledger(self) -> list[Effect]:
        """What handlers wrote down, in that order."""
        file = self.folder / "ledger"
        return [Effect(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []

    def seen(self, what: str, attempt: int = 1) -> set[int]:
        """The jobs whose handler wrote this in this attempt."""
        return {effect.job_id for effect in self.ledger() if (effect.what, effect.attempt) == (what, attempt)}

    def saw(self, what: str, jobs: list[int], attempt: int = 1) -> None:
        """Wait until the handlers of all these jobs have written this."""
        eventually(lambda: set(jobs) <= self.seen(what, attempt), within=PATIENCE)

    def open(self, gate: str = "gate") -> None:
        """Let handlers go on that wait for a gate."""
        (self.folder / gate).touch()

    def finished(self, within: float = PATIENCE) -> None:
        """Wait until no job is pending or running."""
        unfinished = "SELECT 1 FROM fencepost.jobs WHERE state IN ('pending', 'running') LIMIT 1"
        eventually(lambda: not self.ask(unfinished), within=within, every=0.05)

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Lock the table of jobs: whatever is asked about a job stays unanswered."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute("LOCK TABLE fencepost.jobs IN EXCLUSIVE MODE")
            yield
            connection.rollback()

    def asks(self, name: str) -> None:
        """Wait until a session of this name asks, and is held up by a lock."""
        eventually(lambda: self.ask(HELD_UP, name), within=PATIENCE)

    @contextmanager
    def locked(self, jobs: list[int]) -> Iterator[None]:
        """Hold the rows of jobs, as somebody in psql does."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute(
                "SELECT FROM fencepost.jobs WHERE job_id = ANY (%s) ORDER BY job_id FOR UPDATE", [jobs]
            )
            yield
            connection.rollback()


def slay(running: Running) -> None:
    """Kill a process with -9 and wait until it is gone."""
    running.ask(signal.SIGKILL)
    running.process.wait()


@contextmanager
def site_over(dsn: str, folder: Path) -> Iterator[Site]:
    """A site whose processes do not outlive the block, frozen ones included."""
    site = Site(dsn, folder)
    try:
        yield site
    finally:
        site.commands.kill()
