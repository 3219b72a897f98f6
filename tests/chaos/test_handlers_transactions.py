"""``ctx.transaction()`` in worker processes: the handler's writes and its job's success are one thing."""

import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest

from support.proxy import Proxy, Trouble
from support.site import PATIENCE, Site

LEASE = timedelta(seconds=2)
SAYS = {"write": "fencepost worker reports", "write_in_thread": "fencepost transactions"}
both = pytest.mark.parametrize("type", ["write", pytest.param("write_in_thread", marks=pytest.mark.long)])


@pytest.fixture(autouse=True)
def effects(site: Site) -> None:
    """A table of the handlers' own."""
    site.ask("CREATE TABLE public.effects (job_id bigint, attempt int)")


@pytest.fixture
def proxy(database: str) -> Iterator[Proxy]:
    """A bad network to the database."""
    with Proxy(database) as proxy:
        yield proxy


def written(site: Site) -> list[tuple[object, ...]]:
    """The job and attempt of each row that is there."""
    return site.ask("SELECT job_id, attempt FROM public.effects ORDER BY job_id, attempt")


@both
def test_a_lease_stolen_in_the_middle_rolls_the_writes_back(site: Site, type: str) -> None:
    """The frozen attempt has written, another one completes; woken, the first leaves nothing but evidence.

    The coroutine is cancelled at the local end of its lease and released; the thread gets as far as its success.
    """
    worker = site.worker()
    [job] = site.submit(type, 1, {"gate": "gate"}, lease=LEASE)
    site.saw("wrote", [job])
    worker.ask(signal.SIGSTOP)
    site.scheduler()
    site.worker()
    site.finished()
    assert written(site) == [(job, 2)]
    with site.deaf():
        worker.ask(signal.SIGCONT)
        site.asks("fencepost worker heartbeats")
        site.open()
        site.asks(SAYS[type])
    site.saw("stopped", [job])
    assert worker.stop() == 0
    assert written(site) == [(job, 2)]
    assert [name for name, _ in site.events(job)] == [
        *("enqueued", "claimed", "lease_expired", "claimed", "succeeded")
    ]
    assert site.refused(job) == [("succeed" if type == "write_in_thread" else "release", 1)]


@both
def test_a_lost_reply_to_commit_leaves_the_writes_once(site: Site, proxy: Proxy, type: str) -> None:
    """The worker finds out that it has succeeded: no failure, no second attempt, one row."""
    worker = site.worker(slots=1, FENCEPOST_DATABASE_URL=proxy.dsn)
    [job] = site.submit(type, 1, {"gate": "gate"})
    site.saw("wrote", [job])
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    site.open()
    site.finished()
    assert proxy.struck.wait(PATIENCE)
    site.saw("ended", [job])
    assert worker.stop() == 0
    assert written(site) == [(job, 1)]
    assert site.events(job) == [("enqueued", 0), ("claimed", 1), ("succeeded", 1)]
    assert site.refused(job) == []


def test_open_transactions_do_not_hold_up_heartbeats(site: Site) -> None:
    """B095: four handlers hold a connection each for three leases, in all four slots: one attempt each."""
    site.scheduler()
    site.worker(slots=4)
    jobs = site.submit("write", 4, {"seconds": 4.5}, lease=timedelta(seconds=1.5))
    site.finished()
    assert written(site) == [(job, 1) for job in jobs]
    assert site.happened() == {"enqueued": 4, "claimed": 4, "succeeded": 4}
    beaten = site.ask("SELECT min(heartbeats) FROM fencepost.job_events WHERE name = 'succeeded'")
    assert beaten[0][0] >= 3
