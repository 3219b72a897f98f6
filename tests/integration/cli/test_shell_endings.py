"""A command that has to end, and all that it has started: nothing of it survives its attempt or its worker."""

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import frozen

from support.commands import Commands, Running
from support.polling import eventually

FAMILY = """
note() { echo "$1 $2" >> family; }
note shell $$
sleep 1000 & note child $!
sh -c 'sh -c "echo grandchild \\$\\$ >> family; exec sleep 1000" & wait' &
sh -c 'trap "" TERM HUP INT; echo "deaf $$" >> family; while :; do sleep 1000; done' &
timeout 1000 sh -c 'echo "regrouped $$" >> family; exec sleep 1000' &
sh -c 'kill -STOP $$; true' & note stopped $!
echo all are there
wait
"""
"""Five kinds of processes that are easily forgotten; `timeout` leaves the process group."""
KINDS = {"shell", "child", "grandchild", "deaf", "regrouped", "stopped"}


@frozen
class Family:
    """The processes of one command."""

    job: str
    members: dict[str, int]

    def gone(self) -> bool:
        """Whether none of them runs any more."""
        return not any(map(alive, self.members.values()))


def alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def start(fencepost: Commands) -> Iterator[Callable[..., Family]]:
    """Submits the command, and returns its processes once all run; what a failed test leaves is killed."""
    found: list[Family] = []

    def start(*arguments: str, command: str = FAMILY, kinds: set[str] = KINDS) -> Family:
        payload = json.dumps({"command": command, "directory": str(fencepost.folder)})
        submitted = fencepost.json(
            *("jobs", "submit", "shell.run", "--payload", payload, "--lease", "1s", *arguments)
        )
        file = fencepost.folder / "family"
        eventually(lambda: file.exists() and {line.split()[0] for line in _lines(file)} >= kinds, within=30)
        members = {kind: int(pid) for kind, pid in map(str.split, _lines(file))}
        found.append(Family(str(submitted["job_id"]), members))
        return found[-1]

    yield start
    for family in found:
        for pid in family.members.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def worker(fencepost: Commands) -> Running:
    """A worker that runs command lines."""
    worker = fencepost.start("worker", "--allow-shell", "--drain-grace", "500ms")
    worker.said("worker started")
    return worker


@pytest.mark.usefixtures("worker")
def test_a_timeout_ends_the_command_with_all_its_processes(
    fencepost: Commands, start: Callable[..., Family]
) -> None:
    """Grandchildren, those that ignore SIGTERM, those that left the group; gone when the failure is reported."""
    family = start("--timeout", "2s", "--max-attempts", "1")
    job = json.loads(fencepost.run("jobs", "wait", family.job).stdout)
    assert (job["state"], job["error"]["type"]) == ("dead", "timeout")
    assert job["error"]["traceback"] == "stdout:\nall are there\n"
    assert family.gone()


@pytest.mark.usefixtures("worker")
def test_a_cancel_ends_the_command_with_all_its_processes(
    fencepost: Commands, start: Callable[..., Family]
) -> None:
    """And the job is cancelled when they are gone."""
    family = start()
    fencepost.json("jobs", "cancel", family.job)
    assert json.loads(fencepost.run("jobs", "wait", family.job).stdout)["state"] == "cancelled"
    assert family.gone()


@pytest.mark.usefixtures("worker")
def test_a_lost_lease_ends_the_command_with_all_its_processes(
    fencepost: Commands, start: Callable[..., Family]
) -> None:
    """The next attempt is not to run beside them for long."""
    family = start()
    fencepost.json("jobs", "revoke", family.job, "--cancel")
    eventually(family.gone, within=20)


def test_a_drain_ends_the_command_with_all_its_processes(
    fencepost: Commands, worker: Running, start: Callable[..., Family]
) -> None:
    """The job is handed back when they are gone, at no cost."""
    family = start()
    assert worker.stop(within=30) == 0
    assert family.gone()
    job = fencepost.json("jobs", "show", family.job)
    assert (job["state"], job["failures"]) == ("pending", 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_a_killed_worker_takes_its_commands_with_it(
    worker: Running, start: Callable[..., Family], number: signal.Signals
) -> None:
    """Nobody is left to tell them, but the pipe is closed."""
    family = start()
    worker.ask(number)
    worker.code()
    eventually(family.gone, within=20)


@pytest.mark.usefixtures("worker")
def test_a_killed_guard_takes_the_command_with_it(fencepost: Commands, start: Callable[..., Family]) -> None:
    """The worker does what the guard would have done, and the attempt has failed."""
    family = start("--max-attempts", "1")
    os.kill(os.getsid(family.members["shell"]), signal.SIGKILL)
    job = json.loads(fencepost.run("jobs", "wait", family.job).stdout)
    assert (job["state"], job["error"]["message"]) == ("dead", "exit code 137")
    assert family.gone()


@pytest.mark.usefixtures("worker")
def test_a_command_is_asked_to_end_before_it_is_killed(
    fencepost: Commands, start: Callable[..., Family]
) -> None:
    """It can clean up meanwhile."""
    cleaning = (
        'trap "echo cleaned > cleaned; exit 0" TERM; echo "shell $$" >> family; while :; do sleep 0.1; done'
    )
    family = start(command=cleaning, kinds={"shell"})
    fencepost.json("jobs", "cancel", family.job)
    assert json.loads(fencepost.run("jobs", "wait", family.job).stdout)["state"] == "cancelled"
    assert (fencepost.folder / "cleaned").read_text() == "cleaned\n"


@pytest.mark.usefixtures("worker")
def test_what_a_command_leaves_running_when_it_ends_by_itself_goes_on(
    fencepost: Commands, start: Callable[..., Family]
) -> None:
    """As under cron, for commands that start services; the job does not wait for it."""
    family = start(command='sleep 1000 & echo "left $!" >> family; echo over', kinds={"left"})
    job = json.loads(fencepost.run("jobs", "wait", family.job).stdout)
    assert (job["state"], job["result"]["stdout"]) == ("succeeded", "over\n")
    assert alive(family.members["left"])


def _lines(file: Path) -> list[str]:
    """Whole lines only: the last one may be half written."""
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
