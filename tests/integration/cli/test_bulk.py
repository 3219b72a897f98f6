"""Bulk operations: counted first, assented to, then done."""

import json
from collections.abc import Callable

import pytest

from support.commands import Commands

Submit = Callable[..., int]


@pytest.fixture
def mails(submit: Submit) -> list[int]:
    """Three jobs of one queue beside one of another."""
    submit("echo", "--queue", "other")
    return [submit("echo", "--queue", "mail") for _ in range(3)]


def test_a_dry_run_counts_and_changes_nothing(fencepost: Commands, mails: list[int]) -> None:
    """`--dry-run` says how many match, for a condition and for named jobs, and to programs on stdout."""
    done = fencepost.run("jobs", "cancel", "--queue", "mail", "--dry-run")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {"matched": 3}, "3 jobs match\n")
    named = fencepost.run("jobs", "cancel", str(mails[0]), "--dry-run")
    assert (named.returncode, json.loads(named.stdout), named.stderr) == (0, {"named": 1}, "1 job named\n")
    other = fencepost.run("jobs", "cancel", "--queue", "other", "--dry-run", "--output", "table")
    assert (other.stdout, other.stderr) == ("", "1 job matches\n")
    assert len(fencepost.lines("jobs", "list", "--state", "pending")) == 4


def test_without_a_terminal_a_bulk_operation_takes_yes(fencepost: Commands, mails: list[int]) -> None:
    """Nobody can be asked, so nothing happens without --yes; with it, everything that matched is answered."""
    refused = fencepost.run("jobs", "cancel", "--queue", "mail", "--state", "pending")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "error: --yes: must be given" in refused.stderr
    assert "--dry-run" in refused.stderr
    done = fencepost.run(
        "jobs", "cancel", "--queue", "mail", "--state", "pending", "--yes", "--reason", "clean up"
    )
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [{"job_id": job, "verdict": "accepted"} for job in mails]
    assert len(fencepost.lines("jobs", "list", "--state", "pending")) == 1


def test_without_a_state_only_jobs_match_that_can_be_changed(fencepost: Commands, submit: Submit) -> None:
    """Finished jobs are not cancelled, unfinished ones not put back, and those that succeeded only by who chose."""
    done = [submit("echo") for _ in range(2)]
    worker = fencepost.worker()
    for job in done:
        assert fencepost.run("jobs", "wait", str(job)).returncode == 0
    assert worker.stop() == 0
    left = submit("echo")
    for command, told in {
        ("cancel",): "1 job matches",
        ("cancel", "--state", "succeeded"): "2 jobs match",
        ("requeue",): "0 jobs match",
        ("requeue", "--keep-effect-key"): "2 jobs match",
        ("revoke",): "0 jobs match",
    }.items():
        dry = fencepost.run("jobs", *command, "--type", "echo", "--dry-run")
        assert (dry.returncode, dry.stderr) == (0, f"{told}\n"), command
    cancelled = fencepost.run("jobs", "cancel", "--type", "echo", "--yes")
    assert (cancelled.returncode, json.loads(cancelled.stdout)["job_id"]) == (0, left)
    assert fencepost.run("jobs", "requeue", "--type", "echo", "--dry-run").stderr == "1 job matches\n"


def test_nothing_that_matches_is_no_failure(fencepost: Commands) -> None:
    """Zero matches is a result, not an error, and nobody is asked."""
    done = fencepost.run("jobs", "cancel", "--queue", "nothing")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 jobs match\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("cancel",),
        ("cancel", "1", "--queue", "mail"),
        ("requeue",),
        ("edit", "--priority", "1"),
        ("cancel", "1", "1"),
    ],
)
def test_jobs_are_named_or_matched_never_both_or_neither(bare: Commands, arguments: tuple[str, ...]) -> None:
    """A bulk operation never happens because an argument was forgotten."""
    done = bare.run("jobs", *arguments, "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: job_id: must ")


def test_the_dead_are_listed_requeued_and_dismissed(fencepost: Commands, submit: Submit) -> None:
    """The worklist shows what killed each job, and shrinks with each decision."""
    jobs = [submit("doomed") for _ in range(3)]
    worker = fencepost.worker()
    for job in jobs:
        assert fencepost.run("jobs", "wait", str(job)).returncode == 1
    assert worker.stop() == 0
    listed = fencepost.lines("dead", "list")
    assert [job["job_id"] for job in listed] == jobs[::-1]
    assert listed[0]["error"]["message"] == "no use"
    assert listed[0]["died_at"]
    assert fencepost.json("dead", "show", str(jobs[0]))["state"] == "dead"
    assert fencepost.run("dead", "dismiss", str(jobs[0]), "--reason", "known").returncode == 0
    assert [job["job_id"] for job in fencepost.lines("dead", "list", "--dismissed")] == [jobs[0]]
    assert fencepost.run("dead", "requeue", "--all", "--dry-run").stderr == "2 jobs match\n"
    assert fencepost.run("dead", "requeue", "--all", "--yes").returncode == 0
    assert fencepost.lines("dead", "list") == []
    wrong = fencepost.run("dead", "show", str(jobs[1]))
    assert (wrong.returncode, wrong.stderr.count("\n")) == (4, 1)
