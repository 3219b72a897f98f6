"""Workers killed with -9 in the middle of jobs."""

from datetime import timedelta

import pytest

from fencepost.domain.retry import Constant
from support.polling import eventually
from support.site import PATIENCE, Site, slay

LEASE = timedelta(seconds=2)
REAP_EVERY = timedelta(milliseconds=500)
SPARE = timedelta(seconds=2)
SOON = Constant(timedelta(milliseconds=100))


def reaping(site: Site) -> None:
    """Start a scheduler of the period that these tests count with."""
    site.scheduler(f"{REAP_EVERY // timedelta(milliseconds=1)}ms").said("scheduler started")


def test_jobs_of_a_killed_worker_run_again_in_time(site: Site) -> None:
    """Each is claimed again within lease + reaper period + 2 s of the kill, on the database's clock.

    B086: that holds when the dead worker's registration is gone, for the reaper reads only the jobs.
    """
    reaping(site)
    [worker] = site.workers(1)
    jobs = site.submit("nap", 4, {"seconds": 60}, lease=LEASE)
    site.saw("began", jobs)
    slay(worker)
    killed = site.now()
    assert site.ask("DELETE FROM fencepost.workers RETURNING 1")
    site.worker()
    site.finished()
    for job in jobs:
        again = site.moment(job, "claimed", 2)
        assert again <= site.lease_end(job, 1) + REAP_EVERY + SPARE
        assert again <= killed + LEASE + REAP_EVERY + SPARE
        assert [name for name, _ in site.events(job)][2:] == ["lease_expired", "claimed", "succeeded"]


def test_an_idle_worker_is_woken_for_the_jobs_of_a_killed_one(site: Site) -> None:
    """Fifty jobs, the guide's fastest lease and reaper: all start elsewhere in time, though nobody polls."""
    lease, reap_every = timedelta(seconds=1), timedelta(milliseconds=100)
    site.scheduler("100ms").said("scheduler started")
    [killed] = site.workers(1, slots=50)
    jobs = site.submit("nap", 50, {"seconds": 600}, lease=lease)
    site.saw("began", jobs)
    site.worker(50, "--poll=1h").said("worker started")
    slay(killed)
    at = site.now()
    site.finished()
    assert max(site.moment(job, "claimed", 2) for job in jobs) <= at + lease + reap_every + SPARE
    assert site.happened()["lease_expired"] == 50


def test_three_kills_of_three_attempts_leave_a_dead_job(site: Site) -> None:
    """B078: every attempt is counted, the job is dead after the third, and never claimed a fourth time."""
    site.scheduler()
    [job] = site.submit("nap", 1, {"seconds": 60, "later": 60}, lease=LEASE / 2, max_attempts=3, retry=SOON)
    for attempt in (1, 2, 3):
        worker = site.worker()
        site.saw("began", [job], attempt)
        slay(worker)
    site.finished()
    lives = [(name, attempt) for attempt in (1, 2, 3) for name in ("claimed", "lease_expired")]
    [(_, *rest)] = [site.events(job)]
    assert rest == lives
    assert site.states() == {"dead": 1}


def test_a_job_that_kills_its_own_process_runs_dry(site: Site) -> None:
    """I19: whatever starts the worker again, the job is dead after max_attempts, and its neighbours succeed."""
    site.scheduler()
    [job] = site.submit("kill", lease=LEASE / 2, max_attempts=2, retry=SOON, priority=9)
    neighbours = site.submit("nap", 3, lease=LEASE / 2)
    workers = [site.worker(slots=1)]
    workers[0].process.wait(PATIENCE)
    workers.append(site.worker(slots=1))
    workers[1].process.wait(PATIENCE)
    site.worker(slots=1)
    site.finished()
    assert [worker.process.returncode for worker in workers] == [-9, -9]
    assert site.events(job)[1:] == [
        *(("claimed", 1), ("lease_expired", 1)),
        *(("claimed", 2), ("lease_expired", 2)),
    ]
    assert site.states() == {"dead": 1, "succeeded": len(neighbours)}


def test_reaping_needs_no_free_slot(site: Site) -> None:
    """B088: every slot is taken by long jobs, and a scheduler dies: the other reaps in time all the same."""
    reaping(site)
    doomed = site.scheduler("50ms")
    [first] = site.workers(1, slots=2)
    lost = site.submit("nap", 2, {"seconds": 60}, lease=LEASE)
    site.saw("began", lost)
    site.workers(1, slots=2)
    busy = site.submit("nap", 2, {"seconds": 60})
    site.saw("began", busy)
    slay(doomed)
    slay(first)
    eventually(lambda: site.happened()["lease_expired"] == 2, within=PATIENCE)
    for job in lost:
        assert site.moment(job, "lease_expired", 1) <= site.lease_end(job, 1) + REAP_EVERY + SPARE
    assert site.states() == {"running": 2, "pending": 2}


@pytest.mark.long
def test_recovery_depends_on_the_lease_and_on_no_timeout(site: Site) -> None:
    """B207: jobs of a short, a long and no timeout are reaped alike, and no timeout stays none."""
    reaping(site)
    [worker] = site.workers(1)
    timeouts = (timedelta(seconds=2), timedelta(seconds=600), None)
    jobs = [site.submit("nap", 1, {"seconds": 60}, lease=LEASE, timeout=timeout)[0] for timeout in timeouts]
    site.saw("began", jobs)
    slay(worker)
    eventually(lambda: site.happened()["lease_expired"] == len(jobs), within=PATIENCE)
    for job, timeout in zip(jobs, timeouts, strict=True):
        assert site.moment(job, "lease_expired", 1) <= site.lease_end(job, 1) + REAP_EVERY + SPARE
        assert site.ask("SELECT timeout FROM fencepost.jobs WHERE job_id = %s", job) == [(timeout,)]
