"""`fencepost schedules backfill`: counted first, assented to, then carried out by schedulers."""

import json

import pytest

from support.commands import Commands
from support.polling import eventually

MARCH = ("--from", "2026-03-01T00:00:00+01:00", "--to", "2026-03-31T23:59:59+02:00")


@pytest.fixture
def nightly(fencepost: Commands) -> str:
    """A schedule made today."""
    fencepost.run(
        "schedules", "add", "nightly", "--cron", "30 2 * * *", "--tz", "Europe/Oslo", "--type", "report"
    )
    return "nightly"


def test_a_backfill_is_counted_asked_for_and_carried_out(fencepost: Commands, nightly: str) -> None:
    """The scheduler makes a job of each fire time, with the priority that was asked for."""
    done = fencepost.run(
        *("schedules", "backfill", nightly, *MARCH, "--priority", "1", "--yes", "--reason", "lost data")
    )
    assert (done.returncode, done.stderr) == (
        0,
        "31 fire times of schedule nightly from 2026-02-28T23:00:00.000000Z to 2026-03-31T21:59:59.000000Z\n",
    )
    begun = json.loads(done.stdout)
    assert (begun["fire_times"], begun["decided"], begun["ending"], begun["reason"]) == (
        31,
        0,
        None,
        "lost data",
    )
    scheduler = fencepost.start("scheduler")
    eventually(lambda: fencepost.json("schedules", "backfills", nightly)["ending"] == "done")
    assert scheduler.stop() == 0
    [over] = fencepost.lines("schedules", "backfills", nightly)
    assert (over["backfill_id"], over["decided"], over["fired"]) == (begun["backfill_id"], 31, 31)
    jobs = fencepost.lines("jobs", "list")
    assert len(jobs) == 31
    assert {job["priority"] for job in jobs} == {1}
    assert jobs[-1]["scheduled_for"] == "2026-03-01T01:30:00.000000Z"


def test_a_backfill_survives_schedulers_that_are_killed(fencepost: Commands, nightly: str) -> None:
    """Each is killed in the middle; the next one goes on, and no fire time is decided twice or left out."""
    begun = fencepost.json("schedules", "backfill", nightly, "--from", "3000d", "--to", "0s", "--yes")

    def progress() -> int:
        return int(fencepost.json("schedules", "backfills", nightly)["decided"])

    marks = [0]
    while len(marks) < 5 and marks[-1] < begun["fire_times"]:
        scheduler = fencepost.start("scheduler")
        eventually(lambda: progress() > marks[-1], within=60)
        scheduler.process.kill()
        scheduler.code()
        marks.append(progress())
    assert 0 < marks[1] < begun["fire_times"]
    scheduler = fencepost.start("scheduler")
    eventually(lambda: progress() == begun["fire_times"], within=60)
    assert scheduler.stop() == 0
    fire_times = [job["scheduled_for"] for job in fencepost.lines("jobs", "list", "--limit", "10000")]
    assert len(set(fire_times)) == len(fire_times) == begun["fire_times"] >= 2_999


def test_a_dry_run_counts_and_changes_nothing(fencepost: Commands, nightly: str) -> None:
    """`--dry-run` says how many fire times there are; without a terminal somebody has to say --yes."""
    done = fencepost.run("schedules", "backfill", nightly, *MARCH, "--dry-run")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"schedule": nightly, "fire_times": 31})
    assert done.stderr.startswith("31 fire times of schedule nightly")
    refused = fencepost.run("schedules", "backfill", nightly, *MARCH)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "error: --yes: must be given" in refused.stderr
    assert fencepost.lines("schedules", "backfills", nightly) == []


def test_a_range_without_fire_times_is_no_failure(fencepost: Commands, nightly: str) -> None:
    """Nobody is asked; a range may be given as durations back from now."""
    done = fencepost.run("schedules", "backfill", nightly, "--from", "2m", "--to", "2m")
    assert done.returncode == 0
    assert done.stderr.startswith("0 fire times of schedule nightly")


def test_a_backfill_is_stopped(fencepost: Commands, nightly: str) -> None:
    """Once."""
    begun = fencepost.json("schedules", "backfill", nightly, *MARCH, "--yes")
    stop = ("schedules", "stop-backfill", begun["backfill_id"])
    assert fencepost.json(*stop)["verdict"] == "accepted"
    assert fencepost.json(*stop)["verdict"] == "already_applied"
    assert fencepost.json("schedules", "backfills", nightly)["ending"] == "stopped"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ("--from", "2026-03-01T00:00:00Z", "--to", "2999-01-01T00:00:00Z"),
            2,
            "to: must not be later than now",
        ),
        (("--from", "1h", "--to", "2h"), 2, "to: must not be earlier than from"),
        (
            ("--from", "1980-01-01T00:00:00Z", "--to", "0s"),
            2,
            "to: must leave at most 10000 fire times since from",
        ),
        (("--from", "yesterday", "--to", "0s"), 2, "from: must be a duration back from now"),
        (
            ("--from", "2h", "--to", "1h", "--priority", "10"),
            2,
            "priority: must be a whole number from 0 to 9",
        ),
        (("--from", "2h", "--to", "1h", "--overlap", "cancel_running"), 2, "cancel_running"),
    ],
)
def test_what_cannot_be_backfilled_is_refused(
    fencepost: Commands, nightly: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    """Before anybody is asked."""
    done = fencepost.run("schedules", "backfill", nightly, *arguments, "--yes")
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_what_is_not_there_is_said(fencepost: Commands) -> None:
    """Neither the schedule nor the backfill."""
    for arguments in (
        ("backfill", "none", "--from", "2h", "--to", "1h"),
        ("backfills", "none"),
        ("stop-backfill", "backfill:none"),
    ):
        done = fencepost.run("schedules", *arguments)
        assert (done.returncode, done.stdout) == (3, "")
