"""Several worker processes under one supervisor: stopped, killed and frozen, one by one and together."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from fencepost.entrypoints.crew import Crew
from fencepost.entrypoints.stopping import StopRequests
from support.commands import Running
from support.polling import eventually
from support.site import PATIENCE, Site

LEASE = timedelta(seconds=1)
FOREVER = {"seconds": 600, "later": 600}
GATED = {"ending": "succeed"}


@pytest.fixture
def site(site: Site) -> Iterator[Site]:
    """The same, sure that no child outlives the test, whatever became of its supervisor."""
    yield site
    for log in site.folder.glob("log-*"):
        for pid in filter(alive, started(log)):
            os.kill(pid, signal.SIGKILL)


def supervised(site: Site, processes: int, *arguments: str, slots: int = 1) -> Running:
    """Start a supervisor and wait until all of its children work."""
    running = site.worker(slots, f"--processes={processes}", *arguments)
    running.said('"worker started"', times=processes)
    return running


def started(log: Path) -> list[int]:
    """The process ids of all children that a supervisor has started."""
    lines = (json.loads(line) for line in log.read_text().splitlines() if line.startswith("{"))
    return [int(line["pid"]) for line in lines if "pid" in line]


def children(running: Running) -> list[int]:
    """The same, while it runs."""
    return started(running.log)


def alive(pid: int) -> bool:
    """Whether a process still runs; what is dead and not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def none_left(running: Running) -> None:
    """Wait until no child runs any more."""
    pids = children(running)
    assert pids
    eventually(lambda: not any(map(alive, pids)), within=PATIENCE)


def worked(site: Site, what: str = "began") -> set[int]:
    """The processes in which handlers have come so far."""
    return {effect.pid for effect in site.ledger() if effect.what == what}


def test_children_drain_a_queue_together_and_run_nothing_twice(site: Site) -> None:
    """Slots are per process: jobs in all slots of three children at once, then many more; each runs once."""
    running = supervised(site, 3, slots=4)
    held = site.submit("wake", 12, GATED)
    site.saw("began", held)
    assert worked(site) == set(children(running))
    jobs = held + site.submit("nap", 300)
    site.open()
    site.finished()
    began = Counter(effect.job_id for effect in site.ledger() if effect.what == "began")
    assert began == dict.fromkeys(jobs, 1)
    assert site.happened() == {"enqueued": 312, "claimed": 312, "succeeded": 312}
    assert running.stop() == 0


def test_a_killed_child_is_replaced_and_its_job_recovered(site: Site) -> None:
    """The other child is busy, so the lost job's second attempt runs in the new one."""
    site.scheduler()
    running = supervised(site, 2, "--drain-grace=0s")
    jobs = site.submit("nap", 2, FOREVER, lease=LEASE)
    site.saw("began", jobs)
    before = children(running)
    lost = next(effect for effect in site.ledger() if effect.what == "began")
    os.kill(lost.pid, signal.SIGKILL)
    site.saw("began", [lost.job_id], attempt=2)
    assert len(worked(site)) == 3
    assert worked(site) == set(children(running))
    assert set(before) < set(children(running))
    running.said("was ended by SIGKILL; starting it again")
    assert running.stop() == 0
    assert site.states() == {"pending": 2}
    none_left(running)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_stops_all_and_handlers_finish(site: Site, number: signal.Signals) -> None:
    """B201: No child claims any more, handlers end, and the supervisor leaves with exit code 0 after all of them."""
    running = supervised(site, 2)
    jobs = site.submit("wake", 2, GATED)
    site.saw("began", jobs)
    running.ask(number)
    running.said("stopping: no new claims", times=2)
    [late] = site.submit("nap")
    site.open()
    assert running.code() == 0
    assert not any(map(alive, children(running)))
    assert site.states() == {"succeeded": 2, "pending": 1}
    assert site.events(late) == [("enqueued", 0)]


def test_a_second_signal_aborts_all(site: Site) -> None:
    """B201: Exit code 1 while handlers still run: their jobs keep their leases, and nothing is reported."""
    running = supervised(site, 2, "--drain-grace=600s")
    site.saw("began", site.submit("nap", 2, FOREVER))
    running.ask()
    running.said("stopping: no new claims", times=2)
    running.ask()
    assert running.code() == 1
    assert not any(map(alive, children(running)))
    assert running.log.read_text().count("aborting: leases run out") == 2
    assert site.states() == {"running": 2}


def test_a_frozen_child_is_killed_on_a_second_signal(site: Site) -> None:
    """One that cannot obey holds nobody up."""
    running = supervised(site, 2)
    frozen, _ = children(running)
    os.kill(frozen, signal.SIGSTOP)
    running.ask()
    running.said('"worker stopped"')
    running.ask()
    assert running.code() == 1
    assert not any(map(alive, children(running)))
    assert "killing what does not stop: worker" in running.log.read_text()


def test_a_child_that_crashes_while_all_stop_is_not_started_again(site: Site) -> None:
    """The others finish, and the supervisor leaves with exit code 0."""
    running = supervised(site, 2)
    site.saw("began", site.submit("wake", 2, GATED))
    running.ask()
    running.said("stopping: no new claims", times=2)
    os.kill(children(running)[0], signal.SIGKILL)
    running.said("was ended by SIGKILL")
    site.open()
    assert running.code() == 0
    assert "starting it again" not in running.log.read_text()
    assert len(children(running)) == 2
    assert site.states() == {"running": 1, "succeeded": 1}


def test_children_do_not_outlive_a_killed_supervisor(site: Site) -> None:
    """They stop as if told to: handlers get their grace, the rest is handed back."""
    running = supervised(site, 2, "--drain-grace=1s")
    site.saw("began", site.submit("nap", 2, FOREVER))
    running.ask(signal.SIGKILL)
    assert running.code() == -signal.SIGKILL
    none_left(running)
    assert site.states() == {"pending": 2}
    assert site.happened()["released"] == 2


def test_an_interrupt_typed_at_a_terminal_is_one(site: Site) -> None:
    """It reaches the supervisor only, which tells each child once: they drain instead of aborting."""
    running = supervised(site, 2)
    site.saw("began", site.submit("wake", 2, GATED))
    running.interrupt()
    running.said("stopping: no new claims", times=2)
    site.open()
    assert running.code() == 0
    assert "aborting" not in running.log.read_text()
    assert site.states() == {"succeeded": 2}


async def test_who_does_not_stop_in_time_is_killed() -> None:
    """A frozen member gets its time, and no more."""
    crew, requests = Crew({"FENCEPOST_DATABASE_URL": "postgresql://127.0.0.1:1/jobs"}), StopRequests()
    serving = asyncio.ensure_future(crew.serve({"frozen": ("scheduler",)}, requests, within=0.1))
    async with asyncio.timeout(PATIENCE):
        while not crew._running:  # noqa: ASYNC110 - a process comes
            await asyncio.sleep(0.01)
        [pid] = [process.pid for process in crew._running.values()]
        os.kill(pid, signal.SIGSTOP)
        requests.ask()
        await serving
    assert not alive(pid)
