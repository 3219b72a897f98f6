"""B093: the clocks of workers and schedulers are wrong by minutes; only the database's decides."""

import os
from collections.abc import Mapping
from datetime import timedelta

import pytest

from support.faketime import library
from support.figures import Note
from support.site import APPS, Site, slay

LEASE, LONG_LEASE = timedelta(seconds=2), timedelta(seconds=5)


def shifted(seconds: int) -> Mapping[str, str]:
    """The environment of a process whose wall clock is wrong by so much."""
    if (preload := library()) is not None:
        return {
            "LD_PRELOAD": str(preload),
            "FAKETIME": f"{seconds:+d}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    return {"CHAOS_SHIFT": str(seconds), "PYTHONPATH": f"{APPS / 'shifted'}{os.pathsep}{APPS}"}


@pytest.mark.parametrize(
    "ahead",
    [pytest.param(300, id="worker ahead"), pytest.param(-300, id="worker behind", marks=pytest.mark.long)],
)
def test_wrong_clocks_steal_nothing_and_leave_nothing_stuck(site: Site, note: Note, ahead: int) -> None:
    """Jobs longer than their lease are run once while the worker lives, and again in time once it was killed."""
    note("wrong clocks by libfaketime" if library() else "wrong clocks by a patched Python")
    site.scheduler(**shifted(-ahead)).said("scheduler started")
    worker = site.worker(4, **shifted(ahead))
    long = site.submit("nap", 2, {"seconds": 8}, lease=LONG_LEASE)
    site.saw("ended", long)
    lost = site.submit("nap", 2, {"seconds": 60}, lease=LEASE)
    site.saw("began", lost)
    assert wrong(site, lost[0], ahead)
    slay(worker)
    site.worker()
    site.finished()
    for job in long:
        assert site.events(job) == [("enqueued", 0), ("claimed", 1), ("succeeded", 1)]
    for job in lost:
        assert [name for name, _ in site.events(job)[2:]] == ["lease_expired", "claimed", "succeeded"]


def wrong(site: Site, job: int, seconds: int) -> bool:
    """Whether the handler of a job really saw a clock that is wrong by so much."""
    [at] = [effect.at for effect in site.ledger() if effect.job_id == job]
    return abs(at - site.moment(job, "claimed", 1).timestamp() - seconds) < abs(seconds) / 2
