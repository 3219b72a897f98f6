"""Ten thousand jobs on several workers, some of which die or freeze on the way."""

import signal
from collections import Counter
from datetime import timedelta

import pytest

from support.polling import eventually
from support.site import PATIENCE, Site, slay

LEASE = timedelta(seconds=1)
JOBS = 10_000
SLOTS = 20
OVERLAPS = """
SELECT job_id, attempt FROM (
    SELECT *, lag(ended) OVER (PARTITION BY job_id ORDER BY attempt) AS before FROM (
        SELECT job_id, attempt, min(at) FILTER (WHERE name = 'claimed') AS began,
            min(at) FILTER (WHERE name <> 'claimed') AS ended
        FROM fencepost.job_events WHERE attempt > 0 GROUP BY job_id, attempt
    ) AS leases
) AS leases WHERE began < before OR began IS NULL OR ended IS NULL
"""
TWICE = "SELECT job_id FROM fencepost.job_events WHERE name = 'succeeded' GROUP BY job_id HAVING count(*) > 1"
ENDINGS = "SELECT job_id, attempt, name FROM fencepost.job_events WHERE name NOT IN ('enqueued', 'claimed')"


@pytest.mark.timeout(240)
def test_no_two_leases_of_a_job_overlap_and_each_succeeds_once(site: Site) -> None:
    """One worker is killed and one frozen on the way: handlers run again only where a lease lapsed."""
    site.scheduler()
    killed, frozen, _ = site.workers(3, SLOTS)
    jobs = site.submit("nap", JOBS, {"seconds": 0.05}, lease=LEASE)
    eventually(lambda: site.states()["succeeded"] > JOBS / 10, within=PATIENCE)
    frozen.ask(signal.SIGSTOP)
    slay(killed)
    eventually(lambda: site.happened()["lease_expired"], within=PATIENCE)
    frozen.ask(signal.SIGCONT)
    site.finished(within=180)
    assert frozen.stop() == 0
    assert site.states() == {"succeeded": JOBS}
    assert site.ask(OVERLAPS) == []
    assert site.ask(TWICE) == []
    check_ledger(site, jobs)


def check_ledger(site: Site, jobs: list[int]) -> None:
    """Compare what ran with what the history says: an attempt runs once, another one only after a lapse."""
    began = Counter((effect.job_id, effect.attempt) for effect in site.ledger() if effect.what == "began")
    endings = {(job_id, attempt): name for job_id, attempt, name in site.ask(ENDINGS)}
    assert set(began.values()) == {1}
    assert set(began) <= set(endings)
    assert {job_id for job_id, _ in began} == set(jobs)
    ended = {(effect.job_id, effect.attempt) for effect in site.ledger() if effect.what == "ended"}
    assert {attempt for attempt, name in endings.items() if name == "succeeded"} <= ended
    again = {endings[job_id, attempt - 1] for job_id, attempt in began if attempt > 1}
    assert again <= {"lease_expired", "released"}
    assert Counter(endings.values())["lease_expired"] > 0
