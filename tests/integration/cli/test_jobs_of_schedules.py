"""From a schedule to its jobs on the command line."""

import pytest

from support.commands import Commands

COMMANDS = [
    ["jobs", "list"],
    ["jobs", "cancel", "--yes"],
    ["jobs", "requeue", "--yes"],
    ["jobs", "revoke", "--yes"],
    ["dead", "list"],
    ["dead", "requeue", "--yes"],
]


@pytest.fixture
def fired(fencepost: Commands) -> list[int]:
    """Two jobs of the schedule a, beside one of b and one of nobody; newest first."""
    fencepost.json("jobs", "submit", "doomed")
    for name in ("a", "b"):
        fencepost.json("schedules", "add", name, "--cron", "@yearly", "--type", "doomed")
    jobs = [fencepost.json("schedules", "trigger", name)["job_id"] for name in ("a", "b", "a")]
    return [jobs[2], jobs[0]]


def ids(fencepost: Commands, *command: str) -> list[int]:
    """The jobs that a command lists."""
    return [job["job_id"] for job in fencepost.lines(*command)]


def test_jobs_are_listed_by_their_schedule(fencepost: Commands, fired: list[int]) -> None:
    """Page by page, also after it was deleted."""
    fencepost.json("schedules", "delete", "a", "--yes")
    assert ids(fencepost, "jobs", "list", "--schedule", "a") == fired
    page = fencepost.run("jobs", "list", "--schedule", "a", "--limit", "1")
    assert page.stderr == f"there may be more: --below {fired[0]}\n"
    assert ids(fencepost, "jobs", "list", "--schedule", "a", "--below", str(fired[0])) == fired[1:]
    fencepost.json("schedules", "add", "idle", "--cron", "@yearly", "--type", "doomed")
    assert ids(fencepost, "jobs", "list", "--schedule", "idle") == []


def test_bulk_operations_choose_jobs_by_their_schedule(fencepost: Commands, fired: list[int]) -> None:
    """No job of another is touched."""
    dry = fencepost.run("jobs", "cancel", "--schedule", "a", "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "2 jobs match\n")
    assert fencepost.run("jobs", "cancel", "--schedule", "a", "--yes").returncode == 0
    assert ids(fencepost, "jobs", "list", "--state", "cancelled") == fired
    assert fencepost.run("jobs", "requeue", "--schedule", "a", "--yes").returncode == 0
    assert len(ids(fencepost, "jobs", "list", "--state", "pending")) == 4


def test_dead_letters_are_chosen_by_their_schedule(fencepost: Commands, fired: list[int]) -> None:
    """To look at, to put back and to dismiss."""
    worker = fencepost.worker()
    for job in (*fired, 1):
        fencepost.run("jobs", "wait", str(job))
    assert worker.stop() == 0
    assert ids(fencepost, "dead", "list", "--schedule", "a") == fired
    assert fencepost.run("dead", "dismiss", "--schedule", "a", "--yes").returncode == 0
    assert ids(fencepost, "dead", "list", "--schedule", "a") == []
    assert ids(fencepost, "dead", "list", "--schedule", "a", "--dismissed") == fired


@pytest.mark.parametrize("command", COMMANDS)
def test_a_schedule_that_nobody_knows_is_not_found(fencepost: Commands, command: list[str]) -> None:
    """A misspelt name is no schedule without jobs."""
    done = fencepost.run(*command, "--schedule", "nosuch")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("error: there is no schedule nosuch\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_schedule_that_cannot_be_one_is_refused(bare: Commands, command: list[str]) -> None:
    """A misspelt condition must not widen what is chosen."""
    done = bare.run(*command, "--schedule", "two words", "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: schedule: must match")
