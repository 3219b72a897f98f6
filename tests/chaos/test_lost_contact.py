"""Workers that lose contact with the database while their processes go on."""

from datetime import timedelta

from support.roles import Role
from support.site import Site

LEASE = timedelta(seconds=2)
PROMPTLY = timedelta(seconds=1)


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
