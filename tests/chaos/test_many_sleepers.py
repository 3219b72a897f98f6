"""A thousand jobs that sleep at the same time in one worker process."""

from datetime import timedelta

from support.polling import eventually
from support.site import PATIENCE, Site

JOBS = 1_000
LEASE = timedelta(seconds=3)
BEATS = "SELECT min(heartbeats), count(DISTINCT CAST(xmin AS text)), count(*) FROM fencepost.jobs"


def test_one_statement_renews_a_thousand_leases(site: Site) -> None:
    """Whenever it is looked, the rows were last written by one and the same transaction, which is one heartbeat's."""
    worker = site.worker(JOBS, "--drain-grace=0s")
    site.saw("began", site.submit("nap", JOBS, {"seconds": 600}, lease=LEASE))
    beats = []

    def beaten(times: int) -> bool:
        [(fewest, *seen)] = site.ask(BEATS)
        if fewest > 0:
            beats.append(tuple(seen))
        return bool(fewest >= times)

    eventually(lambda: beaten(5), within=PATIENCE)
    assert set(beats) == {(1, JOBS)}
    assert worker.stop() == 0
    assert site.states() == {"pending": JOBS}
    assert site.happened() == {"enqueued": JOBS, "claimed": JOBS, "released": JOBS}
