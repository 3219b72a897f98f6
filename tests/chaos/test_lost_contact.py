"""Workers that lose contact with the database while their processes go on."""

import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from attrs import define, field
from psycopg import sql
from psycopg.conninfo import make_conninfo

from support.polling import eventually
from support.site import PATIENCE, Site

LEASE = timedelta(seconds=2)
PROMPTLY = timedelta(seconds=1)
THROW_OUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"


@define
class Role:
    """A role of one worker alone, so that its connections can be told from all others."""

    server: str
    name: str = field(factory=lambda: f"chaos_{secrets.token_hex(4)}")

    def dsn(self, database: str) -> str:
        """The address of a database for this role."""
        return make_conninfo(database, user=self.name, password="p")

    def run(self, statement: str) -> None:
        """Run a statement about the role."""
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self.name)))

    def throw_out(self) -> int:
        """Terminate every backend of the role and return how many there were."""
        with psycopg.connect(self.server, autocommit=True) as connection:
            return connection.execute(THROW_OUT, [self.name]).rowcount

    def harass(self, over: Callable[[], object], every: float) -> None:
        """Do so again and again, until something is so."""

        def look() -> object:
            self.throw_out()
            return over()

        eventually(look, within=PATIENCE, every=every)


@pytest.fixture
def role(server: str) -> Iterator[Role]:
    """A role with all rights, for a while."""
    role = Role(server)
    role.run("CREATE ROLE {} LOGIN SUPERUSER PASSWORD 'p'")
    yield role
    role.throw_out()
    role.run("DROP ROLE {}")


def test_a_worker_whose_heartbeats_fail_stops_its_handlers(site: Site, role: Role) -> None:
    """B084: its backends are terminated each 200 ms, then it is kept out: no late completion is accepted.

    The handler is stopped by the end of its last lease, another worker runs attempt 2, and the first one recovers.
    """
    worker = site.worker(FENCEPOST_DATABASE_URL=role.dsn(site.dsn))
    [job] = site.submit("nap", 1, {"seconds": 60}, lease=LEASE)
    site.saw("began", [job])
    site.scheduler()
    harassed_until = site.now() + LEASE
    role.harass(lambda: site.now() > harassed_until, every=0.2)
    role.run("ALTER ROLE {} NOLOGIN")
    role.harass(lambda: site.seen("stopped"), every=0.2)
    site.worker()
    site.finished()
    role.run("ALTER ROLE {} LOGIN")
    fresh = site.submit("nap", 20, {"seconds": 0.2})
    site.finished()
    assert worker.stop() == 0
    [stopped] = [effect.at for effect in site.ledger() if (effect.job_id, effect.what) == (job, "stopped")]
    assert stopped <= (site.lease_end(job, 1) + PROMPTLY).timestamp()
    assert ("succeeded", 1) not in site.events(job)
    assert site.events(job)[-1][0] == "succeeded"
    assert set(site.refused(job)) <= {("release", 1)}
    assert site.seen("ended") >= set(fresh)


def test_cut_connections_do_not_cost_a_healthy_worker_its_jobs(site: Site, role: Role) -> None:
    """Its backends are terminated now and then while it works: each job is claimed once and succeeds once."""
    site.scheduler()
    worker = site.worker(slots=10, FENCEPOST_DATABASE_URL=role.dsn(site.dsn))
    site.submit("nap", 100, {"seconds": 0.3})
    cuts = iter(range(5))
    role.harass(lambda: next(cuts, None) is None, every=0.5)
    site.finished()
    assert worker.stop() == 0
    happened = site.happened()
    assert happened["succeeded"] == happened["claimed"] - happened["released"] == 100
    assert happened["lease_expired"] == 0
