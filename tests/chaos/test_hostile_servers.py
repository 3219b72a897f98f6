"""Servers and roles with settings that get in the way."""

import json
from datetime import timedelta

import pytest

from support.commands import Running
from support.polling import eventually
from support.roles import Role
from support.site import PATIENCE, Site

LOW = {
    "statement_timeout": "'200ms'",
    "lock_timeout": "'100ms'",
    "idle_in_transaction_session_timeout": "'500ms'",
}
DECOY = (
    "CREATE SCHEMA decoy; CREATE TABLE decoy.jobs (job_id bigint); CREATE TABLE decoy.job_events (seq int)"
)


def database(site: Site) -> str:
    """The name of the site's database."""
    [(name,)] = site.ask("SELECT current_database()")
    return str(name)


def complaints(running: Running) -> list[str]:
    """What a process logged as a warning or worse."""
    records = [json.loads(line) for line in running.log.read_text().splitlines()]
    return [record["event"] for record in records if record["level"] not in ("info", "debug")]


@pytest.mark.long
def test_low_timeouts_and_a_locked_table_end_no_loop(site: Site, role: Role) -> None:
    """B119: a table lock of three seconds is sat out; worker and reaper go on, in no aborted transaction."""
    role.defaults(LOW)
    dsn = role.dsn(site.dsn)
    scheduler, worker = site.scheduler(FENCEPOST_DATABASE_URL=dsn), site.worker(FENCEPOST_DATABASE_URL=dsn)
    worker.said("worker started")
    jobs = site.submit("nap", 20, {"seconds": 0.2}, lease=timedelta(seconds=10))
    site.saw("began", jobs[:1])
    site.ask("BEGIN; LOCK TABLE fencepost.jobs; SELECT pg_sleep(3); COMMIT")
    site.finished()
    assert (worker.stop(), scheduler.stop()) == (0, 0)
    assert site.happened() == {"enqueued": 20, "claimed": 20, "succeeded": 20}
    assert "25P02" not in worker.log.read_text() + scheduler.log.read_text()


def test_a_failover_that_makes_the_database_read_only_is_sat_out(site: Site, role: Role) -> None:
    """B121: sessions are read-only for a while; running jobs finish afterwards, waiting ones run, nothing is lost."""
    site.scheduler()
    worker = site.worker(4, FENCEPOST_DATABASE_URL=role.dsn(site.dsn))
    worker.said("worker started")
    jobs = site.submit("nap", 8, {"seconds": 1})
    site.saw("began", jobs[:4])
    role.defaults({"default_transaction_read_only": "on"})
    role.throw_out()
    eventually(lambda: "report failed" in worker.log.read_text(), within=PATIENCE)
    assert site.states() == {"running": 4, "pending": 4}
    role.defaults({"default_transaction_read_only": "off"})
    site.finished()
    assert worker.stop() == 0
    assert site.happened() == {"enqueued": 8, "claimed": 8, "succeeded": 8}
    assert len(complaints(worker)) <= 4


def test_tables_of_the_same_name_earlier_in_the_path_are_not_touched(site: Site) -> None:
    """B204: every statement names its schema; nothing depends on search_path."""
    site.ask(DECOY)
    site.ask(f"ALTER DATABASE {database(site)} SET search_path = decoy, pg_temp")
    site.worker()
    site.submit("nap", 5)
    site.finished()
    assert site.happened() == {"enqueued": 5, "claimed": 5, "succeeded": 5}
    assert site.ask("SELECT 1 FROM decoy.jobs UNION ALL SELECT 1 FROM decoy.job_events") == []
