"""Schedulers killed with -9 in the middle of firing: no fire time is lost, none has two decisions or two jobs."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import psycopg
import pytest
from attrs import define, field
from psycopg.conninfo import make_conninfo

from fencepost.domain.schedule import Missed, Overlap
from support.commands import Running
from support.decisions import judged, pause, plan
from support.figures import Note
from support.polling import eventually
from support.schedules import definition
from support.site import PATIENCE, Site, slay

SCHEDULES = 150
"""More than one transaction takes, so that two schedulers fire at the same time."""
POINTS = {
    "before the ledger is written": "firings",
    "between the ledger and the jobs": "jobs",
    "before the next fire times are written": "schedules",
    "anywhere": None,
}
POLL, SPARE = timedelta(seconds=1), timedelta(seconds=2)
DECIDED = "SELECT count(*) FROM fencepost.firings"
LATEST = "SELECT max(decided_at - fire_at) FROM fencepost.firings WHERE decided_at > %s"
WAITING = "SELECT count(*) FROM fencepost.jobs WHERE state = 'pending'"


@define
class Pair:
    """Two schedulers at any time, whose sessions can be told apart by name; it is always the older one that dies."""

    site: Site
    started: int = 0
    alive: deque[tuple[str, Running]] = field(factory=deque)

    def start(self) -> None:
        """Start one more, without a reaper that would be held up, too."""
        self.started += 1
        name = f"scheduler-{self.started}"
        address = make_conninfo(self.site.dsn, application_name=name)
        self.alive.append((name, self.site.scheduler("1h", FENCEPOST_DATABASE_URL=address)))

    def both_fire(self) -> None:
        """Wait until all of them are at work."""
        for _, running in self.alive:
            running.said("scheduler started")

    def kill(self, table: str | None) -> None:
        """Kill the older one while it waits to write into a table, or somewhere while schedules fire."""
        name, doomed = self.alive.popleft()
        if table is None:
            site_fires(self.site)
            slay(doomed)
            return
        with held(self.site, table):
            self.site.asks(name)
            slay(doomed)

    def stop(self) -> list[int]:
        """Stop the others and return their exit codes."""
        return [running.stop() for _, running in self.alive]


@contextmanager
def held(site: Site, table: str) -> Iterator[None]:
    """Let nobody write into a table; whose rows can still be locked."""
    with psycopg.connect(site.dsn) as connection:
        connection.execute(f"LOCK TABLE fencepost.{table} IN SHARE MODE".encode())
        yield
        connection.rollback()


def site_fires(site: Site, times: int = 1) -> None:
    """Wait until something more is decided."""
    [(before,)] = site.ask(DECIDED)
    eventually(partial(more, site, before + times), within=PATIENCE, every=0.005)


def more(site: Site, than: int) -> bool:
    """Whether so much is decided."""
    [(now,)] = site.ask(DECIDED)
    return bool(now >= than)


def every_second(site: Site, number: int, **fields: object) -> list[str]:
    """Make schedules that are all due at the same instants."""
    names = [f"schedule-{index}" for index in range(number)]
    one = definition(
        "every 1s",
        **{
            "starts_at": site.now().replace(microsecond=0),
            "type": "nap",
            "payload": "{}",
            "missed": Missed.ALL,
            "overlap": Overlap.ALLOW,
            **fields,
        },
    )
    plan(site.dsn, dict.fromkeys(names, one))
    return names


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.long)])
def test_schedulers_killed_while_they_fire_lose_and_double_nothing(
    site: Site, note: Note, kills: int
) -> None:
    """B062: 150 schedules every second, each kill at the next point of a firing: one decision, one job a slot."""
    pair = Pair(site)
    pair.start()
    every_second(site, SCHEDULES)
    points = list(POINTS.values())
    for kill in range(kills):
        pair.start()
        pair.both_fire()
        pair.kill(points[kill % len(points)])
    site_fires(site, SCHEDULES)
    assert pair.stop() == [0]
    found = judged(site.dsn)
    assert found.problems == []
    assert found.fire_times == found.jobs > 0
    note(f"{kills} schedulers killed while they fired: {found.fire_times} fire times, {found.jobs} jobs")


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.long)])
def test_another_scheduler_goes_on_within_a_poll(site: Site, note: Note, kills: int) -> None:
    """B071: no leader is elected and no lock runs out: fire times are decided in time whoever dies."""
    pair = Pair(site)
    pair.start()
    pair.start()
    pair.both_fire()
    every_second(site, 20)
    site_fires(site)
    since = site.now()
    for _ in range(kills):
        pair.kill(None)
        pair.start()
        pair.both_fire()
        site_fires(site, 20)
    [(late,)] = site.ask(LATEST, since)
    note(
        f"{kills} schedulers killed: the latest decision came {late.total_seconds():.2f} s after its fire time"
    )
    assert late <= POLL + SPARE
    assert pair.stop() == [0, 0]
    found = judged(site.dsn)
    assert (found.problems, found.fire_times) == ([], found.jobs)


def test_schedules_fire_whatever_workers_know(site: Site) -> None:
    """B070: schedules live in the database: their jobs wait until a worker comes that can do them."""
    site.scheduler()
    site.worker(app="ignorant:app").said("worker started")
    [able] = site.workers(1)
    names = every_second(site, 1)
    eventually(lambda: site.states()["succeeded"], within=PATIENCE)
    slay(able)
    eventually(lambda: site.ask(WAITING)[0][0] >= 3, within=PATIENCE)
    pause(site.dsn, names)
    site.worker()
    site.finished()
    happened = site.happened()
    assert happened["enqueued"] == happened["succeeded"]
    assert judged(site.dsn).problems == []
