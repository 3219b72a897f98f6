"""`fencepost schedules`: what people define, change, look at and trigger."""

import json
import re
import shlex
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, get_args

import pytest

from fencepost.domain.recurrence import Dst
from fencepost.domain.schedule import Missed, Overlap
from fencepost.domain.zones import TZ_VERSION
from fencepost.entrypoints.cli.schedules import definition
from support.commands import Commands
from support.polling import eventually

Add = Callable[..., dict[str, Any]]
NIGHTLY = ("--cron", "30 2 * * *", "--type", "report")
BIG = 12345678901234567890
EVERYTHING = f"""
--cron ' 30 02 * * mon-FRI' --tz Europe/Oslo --dst wall --start 2030-01-01T00:00:00+01:00 --end 2039-12-31T00:00:00Z
--jitter 90s --missed skip --catchup-window 6h --overlap queue_one --pause-on-failure
--type report --payload '{{"n": {BIG}}}' --queue slow --priority 2
--max-attempts 3 --timeout none --lease 5s --retry 1s,1m
"""
YEARLY = ("--cron", "@yearly", "--type", "report")


def test_a_schedule_is_shown_with_everything_that_was_asked(fencepost: Commands) -> None:
    """What was typed is what is stored, in the form in which others would write it."""
    added = fencepost.json("schedules", "add", "nightly", *shlex.split(EVERYTHING))
    shown = fencepost.json("schedules", "show", "nightly", "-n", "2")
    assert added.items() <= shown.items()
    assert (shown["cron"], shown["tz"], shown["dst"]) == ("30 2 * * MON-FRI", "Europe/Oslo", "wall")
    assert shown["starts_at"] == "2029-12-31T23:00:00.000000Z"
    assert shown["ends_at"] == "2039-12-31T00:00:00.000000Z"
    assert (shown["jitter"], shown["missed"], shown["catchup_window"]) == (90, "skip", 21_600)
    assert (shown["overlap"], shown["pause_on_failure"]) == ("queue_one", True)
    assert shown["job"] == {
        "type": "report",
        "payload": {"n": BIG},
        "queue": "slow",
        "priority": 2,
        "max_attempts": 3,
        "timeout": None,
        "lease": 5,
        "retry": {"policy": "delays", "delays": [1, 60]},
    }
    assert shown["next_fire_times"] == ["2030-01-01T01:30:00.000000Z", "2030-01-02T01:30:00.000000Z"]
    assert (shown["state"], shown["version"], shown["last_firings"]) == ("active", 1, [])
    assert shown["words"].startswith("At 02:30 on Monday to Friday, Europe/Oslo")


def test_what_is_not_said_is_the_default(fencepost: Commands) -> None:
    """A schedule starts when it is created; an interval is counted from there."""
    added = fencepost.json("schedules", "add", "often", "--cron", "every 90m", "--type", "report")
    assert added["starts_at"] == added["created_at"]
    first = datetime.fromisoformat(added["next_fire_at"]) - datetime.fromisoformat(added["created_at"])
    assert first == timedelta(minutes=90)
    assert (added["tz"], added["missed"], added["overlap"], added["jitter"]) == ("UTC", "latest", "skip", 0)
    assert added["job"]["retry"] == {"policy": "exponential", "base": 10, "cap": 900}


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ("30s", {"policy": "constant", "delay": 30}),
        ("1s,10s,1m", {"policy": "delays", "delays": [1, 10, 60]}),
        ("500ms..1h", {"policy": "exponential", "base": 0.5, "cap": 3600}),
    ],
)
def test_waits_between_attempts_are_said_in_three_ways(
    fencepost: Commands, add: Add, given: str, policy: dict[str, Any]
) -> None:
    """Of a schedule's jobs as of a single one."""
    assert add("a", "--retry", given)["job"]["retry"] == policy
    job_id = fencepost.json("jobs", "submit", "echo", "--retry", given)["job_id"]
    assert fencepost.json("jobs", "show", str(job_id))["retry"] == policy


def test_who_catches_up_with_all_lets_jobs_overlap(add: Add) -> None:
    """Unless told otherwise."""
    assert add("a", "--missed", "all")["overlap"] == "allow"
    assert add("b", "--missed", "all", "--overlap", "skip")["overlap"] == "skip"


def test_the_same_again_changes_nothing_and_another_one_is_a_conflict(fencepost: Commands, add: Add) -> None:
    """Exit code 4, one line that tells the fields which differ, nothing on stdout."""
    assert add("a") == add("a")
    other = fencepost.run("schedules", "add", "a", *NIGHTLY, "--priority", "1", "--payload", '{"n": 1}')
    assert (other.returncode, other.stdout) == (4, "")
    fields = "cron, priority, payload"
    assert other.stderr == f"error: schedule a is there, and is defined otherwise ({fields}): edit it\n"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["two words", *YEARLY], "name"),
        (["a", "--type", "report"], "cron"),
        (["a", "--cron", "0 0 30 2 *", "--type", "report"], "cron"),
        (["a", "--cron", "99 * * * *", "--type", "report"], "cron"),
        (["a", "--cron", "0" * 200 + "1 * * * *", "--type", "report"], "cron"),
        (["a", "--cron", "@reboot", "--type", "report"], "cron"),
        (["a", "--cron", "@yearly"], "--type"),
        (["a", "--cron", "@yearly", "--type", ""], "type"),
        (["a", *YEARLY, "--tz", "Mars/Olympus"], "tz"),
        (["a", *YEARLY, "--dst", "summer"], "--dst"),
        (["a", *YEARLY, "--missed", "some"], "--missed"),
        (["a", *YEARLY, "--overlap", "maybe"], "--overlap"),
        (["a", *YEARLY, "--start", "2030-01-01T00:00:00"], "start"),
        (["a", *YEARLY, "--end", "2030-01-01"], "end"),
        (["a", *YEARLY, "--end", "1999-01-01T00:00:00Z"], "end: must be later than now, "),
        (["a", *YEARLY, "--jitter", "2d"], "jitter"),
        (["a", *YEARLY, "--catchup-window", "1s"], "catchup_window"),
        (["a", *YEARLY, "--payload", "[1]"], "payload"),
        (["a", *YEARLY, "--payload", "@missing.json"], "payload"),
        (["a", *YEARLY, "--queue", "two words"], "queue"),
        (["a", *YEARLY, "--retry", "soon"], "retry"),
        (["a", *YEARLY, "--retry", "10s..soon"], "retry"),
        (
            ["a", *YEARLY, "--retry", "15m..10s"],
            "retry: must go from the shorter wait to the longer one: 10s..15m",
        ),
        (["a", *YEARLY, "--retry", "0s"], "retry.delay"),
        (["a", *YEARLY, "--priority", "10"], "priority"),
    ],
)
def test_what_cannot_work_is_refused(fencepost: Commands, arguments: list[str], field: str) -> None:
    """Exit code 2 and one line that names the field; nothing is written."""
    done = fencepost.run("schedules", "add", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert field in done.stderr
    assert fencepost.lines("schedules", "list") == []


def test_a_type_that_nobody_handles_is_allowed(fencepost: Commands) -> None:
    """Its handler may be deployed later; the jobs wait."""
    asked = ("schedules", "add", "a", "--cron", "@yearly", "--type", "not.deployed/yet")
    assert fencepost.json(*asked)["job"]["type"] == "not.deployed/yet"


def test_an_edit_changes_only_what_is_given(fencepost: Commands, add: Add) -> None:
    """The start stays, and the payload."""
    added = add("a", "--payload", '{"b": 1}', "--queue", "slow")
    edited = fencepost.json("schedules", "edit", "a", "--cron", "@monthly", "--timeout", "5m")
    assert edited["version"] == 2
    assert (edited["cron"], edited["job"]["timeout"]) == ("@monthly", 300)
    moved = ("cron", "next_fire_at", "version", "job")
    assert {name: edited[name] for name in edited if name not in moved} == {
        name: added[name] for name in added if name not in moved
    }
    assert edited["job"] == {**added["job"], "timeout": 300}


def test_an_edit_takes_away_what_none_takes_away(fencepost: Commands, add: Add) -> None:
    """The end, the window and the limit of a run."""
    add("a", "--end", "2090-01-01T00:00:00Z", "--catchup-window", "1h")
    edited = fencepost.json(
        *("schedules", "edit", "a", "--end", "none", "--catchup-window", "none", "--timeout", "none"),
        *("--no-pause-on-failure",),
    )
    assert (edited["ends_at"], edited["catchup_window"], edited["job"]["timeout"]) == (None, None, None)


def test_an_edit_that_names_a_version_changes_no_other(fencepost: Commands, add: Add) -> None:
    """Exit code 4 for who read an older one; nothing is changed."""
    add("a")
    assert fencepost.json("schedules", "edit", "a", "--priority", "1", "--version", "1")["version"] == 2
    late = fencepost.run("schedules", "edit", "a", "--priority", "9", "--version", "1")
    assert (late.returncode, late.stdout) == (4, "")
    assert late.stderr == "error: schedule a has version 2, not 1\n"
    assert fencepost.json("schedules", "show", "a")["job"]["priority"] == 1


def test_an_edit_to_what_is_there_changes_nothing(fencepost: Commands, add: Add) -> None:
    """The version stays."""
    add("a", "--priority", "1")
    assert fencepost.json("schedules", "edit", "a", "--priority", "1", "--cron", "@YEARLY")["version"] == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ([], "edit"),
        (["--cron", "x"], "cron"),
        (["--tz", "x"], "tz"),
        (["--payload", "x"], "payload"),
        (["--end", "2000-01-01T00:00:00Z"], "end"),
        (["--version", "0", "--priority", "1"], "version"),
        (["--version", "99999999999", "--priority", "1"], "version"),
    ],
)
def test_an_edit_that_cannot_work_is_refused(
    fencepost: Commands, add: Add, arguments: list[str], field: str
) -> None:
    """Exit code 2, and the schedule is as it was."""
    added = add("a")
    done = fencepost.run("schedules", "edit", "a", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {field}: ")
    assert fencepost.json("schedules", "show", "a")["version"] == added["version"]


def test_catching_up_with_all_beside_skip_is_warned_of(fencepost: Commands, add: Add) -> None:
    """An edit leaves the overlap policy as it is, and says what that means."""
    add("a")
    done = fencepost.run("schedules", "edit", "a", "--missed", "all")
    assert "overlap is still skip" in done.stderr
    assert "overlap" not in fencepost.run("schedules", "edit", "a", "--missed", "latest").stderr
    assert fencepost.run("schedules", "edit", "a", "--missed", "all", "--overlap", "allow").stderr == ""


def test_schedules_are_listed_by_name(fencepost: Commands, add: Add) -> None:
    """Page by page; whoever does not see all is told how to go on."""
    for name in ("b", "a", "c"):
        add(name)
    first = fencepost.run("schedules", "list", "--limit", "2")
    assert [json.loads(line)["name"] for line in first.stdout.splitlines()] == ["a", "b"]
    assert first.stderr == "there may be more: --after b\n"
    assert [one["name"] for one in fencepost.lines("schedules", "list", "--after", "b")] == ["c"]
    table = fencepost.run("schedules", "list", "--output", "table").stdout.splitlines()
    columns = ["name", "cron", "tz", "state", "next_fire_at", "late", "declared_by", "drifted", "type"]
    assert table[0].split() == columns
    assert table[2].split()[:4] == ["a", "@yearly", "UTC", "active"]
    listed = json.loads(fencepost.run("schedules", "list", "--output", "json").stdout)
    assert "payload" not in listed[0]["job"]


def test_a_schedule_is_paused_and_resumed(fencepost: Commands, add: Add) -> None:
    """With the reason; each name is answered, and one that there is not makes exit code 3."""
    add("a")
    add("b")
    done = fencepost.run("schedules", "pause", "a", "x", "b", "--reason", "holidays")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"name": "a", "verdict": "accepted"},
        {"name": "x", "verdict": "gone"},
        {"name": "b", "verdict": "accepted"},
    ]
    assert (done.returncode, done.stderr) == (3, "error: there is no schedule x\n")
    shown = fencepost.json("schedules", "show", "a")
    assert (shown["state"], shown["pause_reason"]) == ("paused", "holidays")
    assert (shown["next_fire_at"], shown["next_fire_times"]) == (None, [])
    assert fencepost.json("schedules", "pause", "a")["verdict"] == "already_applied"
    assert fencepost.json("schedules", "resume", "a")["verdict"] == "accepted"
    assert fencepost.json("schedules", "show", "a")["state"] == "active"


def test_a_trigger_answers_the_decision_and_the_job(fencepost: Commands, add: Add) -> None:
    """The job is there at once, and serves the moment of the trigger."""
    add("a", "--payload", '{"n": 1}')
    fired = fencepost.json("schedules", "trigger", "a", "--reason", "to see it run")
    assert (fired["name"], fired["outcome"], fired["reason"], fired["count"]) == ("a", "fired", "asked", 1)
    assert fired["origin"].startswith("trigger:")
    job = fencepost.json("jobs", "show", str(fired["job_id"]))
    assert (job["type"], job["payload"]) == ("report", {"n": 1})
    assert job["scheduled_for"] == fired["fire_at"]
    again = fencepost.json("schedules", "trigger", "a", "--overlap", "skip")
    assert (again["outcome"], again["reason"], again["job_id"]) == ("skipped", "overlap", None)
    waiting = fencepost.json("schedules", "trigger", "a", "--overlap", "queue_one")
    assert waiting["outcome"] == "queued"
    assert fencepost.json("schedules", "show", "a")["waiting"] == waiting["fire_at"]
    [event, *_] = fencepost.lines("audit", "log", "--name", "schedule_triggered")
    assert event["subject"] == "schedule:a"


def test_the_ledger_is_shown_newest_first_and_outlives_its_schedule(fencepost: Commands, add: Add) -> None:
    """Page by page; a name that never fired is not found."""
    add("a")
    fired = [fencepost.json("schedules", "trigger", "a") for _ in range(3)]
    wanted = fencepost.lines("schedules", "firings", "a")
    for row, one in zip(wanted, reversed(fired), strict=True):
        assert {"name": "a", **row} == one | {
            "decided_at": one["fire_at"],
            "version": 1,
            "tz_version": TZ_VERSION,
        }
    assert fencepost.json("schedules", "show", "a")["last_firings"] == wanted
    page = fencepost.run("schedules", "firings", "a", "--limit", "2")
    before = wanted[1]["fire_at"]
    assert page.stderr == f"there may be more: --before {before}\n"
    assert fencepost.lines("schedules", "firings", "a", "--before", before) == wanted[2:]
    assert fencepost.json("schedules", "delete", "a", "--yes") == {"name": "a", "verdict": "accepted"}
    assert fencepost.lines("schedules", "firings", "a") == wanted
    assert fencepost.run("schedules", "firings", "b").returncode == 3


def test_a_schedule_without_decisions_has_an_empty_ledger(fencepost: Commands, add: Add) -> None:
    """Which is no error."""
    add("a")
    assert fencepost.lines("schedules", "firings", "a") == []


@pytest.mark.parametrize(
    "command",
    [
        ["edit", "x", "--priority", "1"],
        ["show", "x"],
        ["pause", "x"],
        ["resume", "x"],
        ["trigger", "x"],
        ["delete", "x", "--yes"],
        ["firings", "x"],
    ],
)
def test_what_is_not_there_is_exit_code_3(fencepost: Commands, command: list[str]) -> None:
    """Said in one line."""
    done = fencepost.run("schedules", *command)
    assert (done.returncode, done.stderr) == (3, "error: there is no schedule x\n")


@pytest.mark.parametrize(
    "command",
    [
        ["show", "two words"],
        ["pause", "two words"],
        ["pause"],
        ["resume", "a", ""],
        ["trigger", "two words"],
        ["trigger", "a", "--overlap", "maybe"],
        ["delete", "two words", "--yes"],
        ["delete", "--yes"],
        ["delete", "a", "b", "a", "--yes"],
        ["delete", "a", "b", "--version", "1", "--yes"],
        ["firings", "two words"],
        ["firings", "a", "--before", "2030-01-01T00:00:00"],
        ["firings", "a", "--limit", "0"],
        ["list", "--limit", "1001"],
        ["show", "a", "-n", "0"],
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(bare: Commands, command: list[str]) -> None:
    """No database is needed to know."""
    done = bare.run("schedules", *command)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_database_out_of_reach_is_exit_code_5(bare: Commands) -> None:
    """As everywhere."""
    away = bare.having(FENCEPOST_DATABASE_URL="postgresql://127.0.0.1:1/none?connect_timeout=1")
    assert away.run("schedules", "list").returncode == 5


def test_a_terminal_is_told_a_schedule_in_words(fencepost: Commands, add: Add) -> None:
    """Line by line; the next fire times, also by the zone's clock, and the last decisions have lines of their own."""
    add("a", "--tz", "Europe/Oslo")
    fired = fencepost.json("schedules", "trigger", "a")
    lines = fencepost.run("schedules", "show", "a", "--output", "table").stdout.splitlines()
    shown = {line.split()[0]: line.partition("  ")[2].strip() for line in lines if not line.startswith(" ")}
    assert shown["words"] == "At 00:00 on the 1st of January, Europe/Oslo"
    assert shown["last_firings"] == f"{fired['fire_at'][:19]}Z fired: asked, job {fired['job_id']}"
    assert (
        len([line for line in lines if "-12-31T23:00:00Z  20" in line and "-01-01T00:00:00+01:00" in line])
        == 5
    )
    assert "pause_reason" not in shown


def test_a_table_shows_every_moment_in_one_form(fencepost: Commands, add: Add) -> None:
    """In seconds and UTC, wherever it stands."""
    add("a", "--start", "2030-01-01T00:00:00+01:00", "--end", "2090-01-01T00:00:00Z")
    fencepost.json("schedules", "trigger", "a")
    table = fencepost.run("schedules", "show", "a", "--output", "table").stdout
    found = re.findall(r"\d{4}-\d\d-\d\dT\S*", table)
    assert len(found) >= 9
    assert [one for one in found if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one)] == []


def test_a_schedule_added_on_the_command_line_fires(fencepost: Commands) -> None:
    """By a scheduler that was asleep, at its fire times, one job each."""
    scheduler = fencepost.start("scheduler")
    scheduler.said("scheduler started")
    fencepost.json("schedules", "add", "often", "--cron", "every 1s", "--type", "tick", "--overlap", "allow")

    def rows() -> list[dict[str, Any]] | None:
        found = fencepost.lines("schedules", "firings", "often")
        return found if len(found) >= 2 else None

    [newest, *_] = eventually(rows) or []
    assert (newest["outcome"], newest["origin"]) == ("fired", "cron")
    assert fencepost.json("schedules", "delete", "often", "--yes")["verdict"] == "accepted"
    found = fencepost.lines("schedules", "firings", "often")
    jobs = fencepost.lines("jobs", "list", "--type", "tick")
    fired = {row["fire_at"]: row["job_id"] for row in found if row["outcome"] == "fired"}
    assert {job["scheduled_for"]: job["job_id"] for job in jobs} == fired


def test_the_words_of_the_flags_are_those_of_the_domain() -> None:
    """A policy that is added there is offered here."""
    words = [definition.DstWord, definition.MissedWord, definition.OverlapWord]
    assert [list(get_args(word)) for word in words] == [[*Dst], [*Missed], [*Overlap]]
