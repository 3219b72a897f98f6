"""A database clock that steps an hour forward and back under running schedulers.

The server is a private one under libfaketime. ``integration/postgres/test_clock_steps.py`` does the same everywhere
with a clock that only the product's own statements see.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from fencepost.adapters.postgres.migrations import migrate
from fencepost.domain.schedule import Missed, Overlap
from support.databases import new_database
from support.decisions import edit, judged, plan
from support.faketime import SteppingServer, stepping_server
from support.figures import Note
from support.polling import eventually
from support.proof import prove
from support.schedules import definition
from support.site import PATIENCE, Site, site_over

HOUR = 3_600
BEHIND = "SELECT name FROM fencepost.schedules WHERE next_fire_at < clock_timestamp() - interval '3 s'"
OVERLAPPING = """
SELECT a.schedule, a.fire_at, b.fire_at FROM fencepost.firings AS a JOIN fencepost.firings AS b
    ON a.schedule = b.schedule AND a.origin = b.origin AND a.fire_at < b.fire_at AND b.fire_at <= a.until
"""
TWICE = "SELECT effect_key FROM fencepost.jobs GROUP BY 1 HAVING count(*) > 1"


@pytest.fixture
def stepping() -> Iterator[SteppingServer]:
    """A server whose clock the test moves."""
    with stepping_server() as server:
        yield server


@pytest.fixture
def stepped(stepping: SteppingServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """Processes over a database there, whose history must hold at the end."""
    with new_database(stepping.dsn) as dsn:
        migrate(dsn)
        with site_over(dsn, tmp_path) as site:
            yield site
        prove(dsn, request.node)


def looked(site: Site, since: datetime) -> bool:
    """Whether the server's clock has stepped and schedulers have decided what that has made due."""
    return abs(site.now() - since) > timedelta(minutes=30) and not site.ask(BEHIND)


def step(stepping: SteppingServer, site: Site, hours: int) -> None:
    """Let the clock step, and wait until somebody has looked."""
    before = site.now()
    stepping.step_to(HOUR * hours)
    eventually(lambda: looked(site, before), within=PATIENCE, every=0.1)


@pytest.mark.parametrize("rounds", [2, pytest.param(12, marks=pytest.mark.long)])
def test_an_hour_forward_and_back_decides_each_fire_time_once(
    stepping: SteppingServer, stepped: Site, note: Note, rounds: int
) -> None:
    """Two schedulers, every policy; one schedule is edited while the clock is back: no second firing, none missing."""
    began = stepped.now().replace(microsecond=0)
    kinds = {
        "all": definition("*/5 * * * *", starts_at=began, missed=Missed.ALL),
        "every": definition("every 10s", starts_at=began, missed=Missed.ALL),
        "latest": definition("*/2 * * * *", starts_at=began, overlap=Overlap.ALLOW),
        "skip": definition("every 1s", starts_at=began, missed=Missed.SKIP),
        "window": definition("* * * * *", starts_at=began, catchup_window=timedelta(minutes=20)),
        "waiting": definition("*/3 * * * *", starts_at=began, overlap=Overlap.QUEUE_ONE),
    }
    plan(stepped.dsn, {**kinds, "edited": definition(starts_at=began, overlap=Overlap.ALLOW)})
    schedulers = [stepped.scheduler(), stepped.scheduler()]
    for scheduler in schedulers:
        scheduler.said("scheduler started")
    for number in range(rounds):
        step(stepping, stepped, number + 1)  # further each time, or nothing would be due
        step(stepping, stepped, number)
        payload = f'{{"edit":{number}}}'
        edit(stepped.dsn, "edited", definition(starts_at=began, overlap=Overlap.ALLOW, payload=payload))
    step(stepping, stepped, rounds + 1)  # nothing may have happened later than the proof reads the clock
    assert [scheduler.stop() for scheduler in schedulers] == [0, 0]
    found = judged(stepped.dsn, leaving_out={"edited"})
    assert found.problems == []
    assert stepped.ask(OVERLAPPING) == stepped.ask(TWICE) == []
    note(
        f"the server's clock stepped {2 * rounds + 1} times: {found.fire_times} fire times, {found.jobs} jobs"
    )
