"""B083: workers stopped with SIGSTOP until somebody else has done their jobs, and woken again."""

import signal
from collections.abc import Sequence
from datetime import timedelta

import pytest

from support.commands import Running
from support.polling import eventually
from support.site import PATIENCE, Site

LEASE = timedelta(seconds=2)
COMMANDS = ("succeed", "fail", "snooze", "discard", "release")
ROWS = "SELECT to_jsonb(j) FROM fencepost.jobs AS j ORDER BY job_id"
REPORTS = "fencepost worker reports"
HISTORY = "SELECT job_id, seq, name FROM fencepost.job_events ORDER BY job_id, seq"


def overtaken(site: Site, worker: Running, jobs: Sequence[int]) -> Running:
    """Freeze the worker in the middle of these jobs and wait until another has done them."""
    site.saw("began", list(jobs))
    worker.ask(signal.SIGSTOP)
    site.scheduler()
    other = site.worker(slots=10)
    site.finished()
    for job in jobs:
        assert [attempt for name, attempt in site.events(job) if name == "claimed"] == [1, 2]
    return other


def everything(site: Site) -> tuple[object, object]:
    """All rows and all names of events."""
    return site.ask(ROWS), site.ask(HISTORY)


def test_every_late_report_is_refused_once(site: Site) -> None:
    """Succeed, fail, snooze, discard, release: attempt 2 stands, and each leaves one ``report_refused``.

    Nobody answers while the worker wakes, so it can't hear that its leases are lost before its handlers have ended.
    """
    worker = site.worker(slots=10)
    jobs = {command: site.submit("wake", 1, {"ending": command}, lease=LEASE)[0] for command in COMMANDS}
    [cancelled] = site.submit("wake_cancelled", 1, lease=LEASE)
    late = [*jobs.values(), cancelled]
    overtaken(site, worker, late)
    before = everything(site)
    with site.deaf():
        worker.ask(signal.SIGCONT)
        site.asks(REPORTS)
        site.open()
        eventually(lambda: set(late) <= site.seen("ended") | site.seen("stopped"), within=PATIENCE)
    expected = {**{job: [(command, 1)] for command, job in jobs.items()}, cancelled: [("release", 1)]}
    eventually(lambda: all(site.refused(job) for job in late), within=PATIENCE)
    assert worker.stop() == 0
    assert {job: site.refused(job) for job in late} == expected
    assert everything(site) == before
    assert set(site.states()) == {"succeeded"}
    assert worker.log.read_text().count("lease lost") == len(late)


def test_a_late_heartbeat_hears_that_the_lease_is_lost(site: Site) -> None:
    """The worker is told, its handler stops, nothing is reported, and it goes on with other jobs."""
    worker = site.worker(slots=10)
    [job] = site.submit("hear", 1, lease=LEASE)
    other = overtaken(site, worker, [job])
    before = everything(site)
    worker.ask(signal.SIGCONT)
    site.saw("ended", [job])
    worker.said(f"lease lost: job {job} attempt 1")
    assert (site.refused(job), everything(site)) == ([], before)
    assert other.stop() == 0
    fresh = site.submit("nap", 5)
    site.finished()
    assert site.seen("ended") == {job, *fresh}


@pytest.mark.long
def test_what_a_drain_hands_back_too_late_is_refused(site: Site) -> None:
    """A handler that listens to nothing is released by the drain of its thawed worker: refused like the rest."""
    worker = site.worker(10, "--drain-grace", "1s")
    [job] = site.submit("wake", 1, {"ending": "succeed"}, lease=LEASE)
    overtaken(site, worker, [job])
    before = everything(site)
    with site.deaf():
        worker.ask(signal.SIGCONT)
        worker.ask(signal.SIGTERM)
        site.asks(REPORTS)
    eventually(lambda: site.refused(job), within=PATIENCE)
    assert worker.code() == 0
    assert (site.refused(job), everything(site)) == ([("release", 1)], before)
