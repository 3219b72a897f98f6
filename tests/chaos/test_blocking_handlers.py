"""Handlers that block their process, or just take their time, and what the database sees of them."""

from datetime import timedelta

import pytest

from support.polling import eventually
from support.site import PATIENCE, Site

LEASE = timedelta(seconds=1)
# Our sessions that wait inside a transaction for more than a second, or whose transaction is older than two.
LINGERING = """
SELECT application_name, state, query FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(application_name, 'fencepost')
    AND (xact_start < clock_timestamp() - interval '2 s'
        OR starts_with(state, 'idle in transaction') AND state_change < clock_timestamp() - interval '1 s')
"""


@pytest.mark.long
def test_a_blocked_event_loop_and_a_busy_thread_keep_their_leases(site: Site) -> None:
    """B082: a coroutine that calls time.sleep for three leases, beside a thread: one attempt each."""
    site.scheduler()
    site.worker()
    site.submit("block", 1, {"seconds": 6}, lease=2 * LEASE)
    site.submit("doze", 1, {"seconds": 6}, lease=2 * LEASE)
    site.finished()
    assert site.happened() == {"enqueued": 2, "claimed": 2, "succeeded": 2}


def test_a_handler_that_holds_the_interpreters_lock_ends_one_attempt(site: Site) -> None:
    """B082: no heartbeat can be sent for three leases: another worker takes over, the late success is dropped."""
    site.scheduler()
    worker = site.worker()
    [job] = site.submit("grip", 1, {"seconds": 4}, lease=LEASE)
    site.saw("began", [job])
    site.worker()
    site.finished()
    site.saw("ended", [job])
    assert worker.stop() == 0
    lives = [("claimed", 1), ("lease_expired", 1), ("claimed", 2), ("succeeded", 2)]
    assert site.events(job)[1:] == lives
    assert site.refused(job) in ([], [("succeed", 1)])


@pytest.mark.long
def test_no_transaction_is_open_while_a_handler_runs(site: Site) -> None:
    """B122: sampled during a handler, no session of ours stays inside a transaction."""
    site.worker()
    [job] = site.submit("nap", 1, {"seconds": 5})
    site.saw("began", [job])
    seen: list[object] = []

    def sample() -> bool:
        seen.extend(site.ask(LINGERING))
        return site.states()["succeeded"] == 1

    eventually(sample, within=PATIENCE, every=0.1)
    assert seen == []
