"""Overlap policies while schedulers and workers are killed with -9: no schedule has more than one unfinished job."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

import pytest
from attrs import define, field

from fencepost.domain.retry import Constant
from fencepost.domain.schedule import Overlap
from support.commands import Running
from support.decisions import judged, pause, plan, together
from support.figures import Note
from support.polling import eventually
from support.schedules import definition
from support.site import PATIENCE, Effect, Site, slay

LEASE = timedelta(seconds=1)
SOON = Constant(timedelta(milliseconds=50))
POLICIES = (Overlap.SKIP, Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING)
OUTCOMES = "SELECT split_part(schedule, '-', 1), outcome, sum(count) FROM fencepost.firings GROUP BY 1, 2"
MADE = "SELECT job_id, actor FROM fencepost.job_events WHERE name = 'enqueued'"


@define
class Killing:
    """Two schedulers and two workers at any time; the older ones die."""

    site: Site
    schedulers: deque[Running] = field(factory=deque)
    workers: deque[Running] = field(factory=deque)
    killed: dict[int, float] = field(factory=dict)

    def start_scheduler(self) -> None:
        """One more."""
        self.schedulers.append(self.site.scheduler())

    def start_worker(self) -> None:
        """One more."""
        self.workers.append(self.site.worker(3))

    def kill_scheduler(self) -> None:
        """The older one, somewhere."""
        self.start_scheduler()
        self.schedulers[-1].said("scheduler started")
        self._kill(self.schedulers.popleft())

    def kill_worker(self) -> None:
        """The older one, while it runs a job."""
        self.start_worker()
        self.workers[-1].said("worker started")
        doomed = self.workers.popleft()
        eventually(partial(busy, self.site, doomed.process.pid), within=PATIENCE)
        self._kill(doomed)

    def _kill(self, doomed: Running) -> None:
        slay(doomed)
        self.killed[doomed.process.pid] = time.time()


def busy(site: Site, pid: int) -> bool:
    """Whether a handler of this process has begun and not ended."""
    mine = [effect for effect in site.ledger() if effect.pid == pid]
    return sum(effect.what == "began" for effect in mine) > sum(effect.what != "began" for effect in mine)


def runs_together(
    effects: Sequence[Effect], actors: Mapping[int, str], killed: Mapping[int, float]
) -> list[Effect]:
    """The runs that began while another one of their schedule went on in a living process."""
    going: dict[str, dict[tuple[int, int], Effect]] = {}
    found = []
    for effect in effects:
        mine = going.setdefault(actors[effect.job_id], {})
        if effect.what != "began":
            mine.pop((effect.job_id, effect.attempt), None)
            continue
        found += [effect for other in mine.values() if killed.get(other.pid, effect.at) >= effect.at]
        mine[effect.job_id, effect.attempt] = effect
    return found


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.long)])
def test_no_more_than_one_job_of_a_schedule_is_unfinished(site: Site, note: Note, kills: int) -> None:
    """B069: ``skip``, ``queue_one`` and ``cancel_running``, due every second, with jobs that take longer than that."""
    names = [f"{policy.value}-{number}" for policy in POLICIES for number in range(3)]
    fields = {"type": "nap", "payload": '{"seconds":1.7,"later":0.2}', "lease": LEASE, "retry": SOON}
    killing = Killing(site)
    for start in (killing.start_scheduler, killing.start_worker):
        start()
    start_at = site.now().replace(microsecond=0)
    plan(
        site.dsn,
        {
            name: definition(
                "every 1s", starts_at=start_at, overlap=Overlap(name.partition("-")[0]), **fields
            )
            for name in names
        },
    )
    for kill in range(kills):
        (killing.kill_worker if kill % 2 else killing.kill_scheduler)()
    eventually(lambda: at_least(site, names, kills // 4 + 2), within=PATIENCE)
    pause(site.dsn, names)
    site.finished()
    assert together(site.dsn) == []
    assert runs_together(site.ledger(), dict(site.ask(MADE)), killing.killed) == []
    outcomes = {(policy, outcome): number for policy, outcome, number in site.ask(OUTCOMES)}
    assert {policy for policy, outcome in outcomes if outcome == "queued"} == {"queue_one", "cancel_running"}
    assert site.happened()["cancelled"] > 0
    note(f"overlap under {kills} kills: {dict(site.happened())}; {outcomes}")
    assert judged(site.dsn).problems == []


def at_least(site: Site, names: Sequence[str], jobs: int) -> bool:
    """Whether each schedule has had so many jobs."""
    made = [actor for _, actor in site.ask(MADE)]
    return all(made.count(f"schedule:{name}") >= jobs for name in names)
