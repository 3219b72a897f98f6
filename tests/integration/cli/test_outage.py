"""B202: the database goes away and comes back; no process has to be started again."""

import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from support.commands import Commands, Running
from support.polling import eventually

Submit = Callable[..., int]
OUTAGE = 8.0


@pytest.fixture
def allow(server18: str, database: str) -> Callable[[bool], None]:
    """Lets nobody into the test's database, or everybody again; who is inside is thrown out."""
    name = urlsplit(database).path.lstrip("/")

    def change(allowed: bool) -> None:
        with psycopg.connect(server18, autocommit=True) as connection:
            connection.execute(
                sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS {}").format(
                    sql.Identifier(name), sql.Literal(allowed)
                )
            )
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )

    return change


def test_workers_resume_after_an_outage(
    fencepost: Commands, submit: Submit, allow: Callable[[bool], None]
) -> None:
    """Workers started before and during the outage work within seconds of its end; the history is clean.

    That they try again is said once, not with every try.
    """
    before = fencepost.worker("--queues", "default:2")
    scheduler = fencepost.start("scheduler")
    scheduler.said("scheduler started")
    job = submit("echo", "--delay", "2s")
    allow(False)
    before.said("out of reach")
    during = fencepost.start("worker", "shop:app", "--queues", "side:2")
    during.said("out of reach")
    outage_ends = time.monotonic() + OUTAGE
    eventually(lambda: time.monotonic() > outage_ends, within=2 * OUTAGE, every=0.2)
    assert (before.process.poll(), during.process.poll(), scheduler.process.poll()) == (None, None, None)
    allow(True)
    assert fencepost.run("jobs", "wait", str(job), "--timeout", "10s").returncode == 0
    during.said("worker started", within=10)
    other = submit("doze", "--queue", "side", "--payload", '{"seconds": 0}')
    assert fencepost.run("jobs", "wait", str(other), "--timeout", "10s").returncode == 0
    assert [running.stop() for running in (before, during, scheduler)] == [0, 0, 0]
    assert [len(complaints(worker)) for worker in (before, during)] == [1, 1]
    assert fencepost.json("audit", "verify")["clean"]


def test_a_scheduler_started_during_an_outage_lets_workers_come_back_first(
    fencepost: Commands, submit: Submit, allow: Callable[[bool], None]
) -> None:
    """Neither could their workers renew: leases that lapsed meanwhile are not ended at once."""
    worker = fencepost.worker("--queues", "side:2")
    job = submit("doze", "--queue", "side", "--lease", "1s", "--payload", '{"seconds": 60}')
    eventually(lambda: fencepost.json("jobs", "show", str(job))["state"] == "running")
    allow(False)
    worker.said("out of reach")
    worker.process.kill()
    scheduler = fencepost.start("scheduler", "--reap-every", "100ms")
    scheduler.said("out of reach")
    allow(True)
    scheduler.said("scheduler started", within=10)
    assert fencepost.run("jobs", "wait", str(job), "--timeout", "2s").returncode != 0
    assert fencepost.json("jobs", "show", str(job))["state"] == "running"
    assert scheduler.stop() == 0


def complaints(running: Running) -> list[str]:
    """What a process logged about the database being away."""
    lines = running.log.read_text().splitlines()
    return [line for line in lines if "out of reach" in json.loads(line)["event"]]
