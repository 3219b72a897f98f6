"""Schedules that an app declares: `fencepost schedules sync`, and what a worker does when it starts."""

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from support.commands import Commands
from support.polling import eventually
from support.terminals import on_a_terminal

PLAIN = """
from fencepost import Fencepost

app = Fencepost()

@app.job()
async def report(ctx, user_id: int = 0):
    return str(ctx.scheduled_for)
"""
LESSER = (
    "CREATE ROLE {} LOGIN PASSWORD 'p'",
    "GRANT USAGE ON SCHEMA fencepost TO {}",
    "GRANT ALL ON ALL TABLES IN SCHEMA fencepost TO {}",
    "GRANT ALL ON ALL SEQUENCES IN SCHEMA fencepost TO {}",
    "REVOKE ALL ON fencepost.schedules FROM {}",
)
CREATED = ("audit", "log", "--name", "schedule_created")


@pytest.fixture
def say(fencepost: Commands) -> Callable[..., None]:
    """Writes the app's code: calls of `app.schedule`, as their arguments."""

    def write(*schedules: str) -> None:
        lines = [f"app.schedule({arguments})" for arguments in schedules]
        (fencepost.folder / "crew.py").write_text("\n".join([PLAIN, *lines, ""]))

    return write


Say = Callable[..., None]


def sync(fencepost: Commands, *flags: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """Sync as a deployment does; the answers by name."""
    done = fencepost.run("schedules", "sync", "crew:app", *flags)
    assert done.returncode == code, done.stderr
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def actions(answers: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What was done about each."""
    return {name: one["action"] for name, one in answers.items()}


def logged(log: Path) -> list[dict[str, Any]]:
    """What a process has logged."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_sync_tells_what_it_does(fencepost: Commands, say: Say) -> None:
    """First dry, then in earnest, then once more for nothing."""
    say("'nightly', '30 2 * * *', report, tz='Europe/Oslo'", "'hourly', '@hourly', report")
    assert actions(sync(fencepost, "--dry-run")) == {"nightly": "created", "hourly": "created"}
    assert fencepost.lines(*CREATED) == []
    assert actions(sync(fencepost)) == {"nightly": "created", "hourly": "created"}
    [first, _] = fencepost.lines(*CREATED)
    assert first["actor"].startswith("user:")
    assert first["reason"] == "declared by crew:app"
    assert actions(sync(fencepost)) == {"nightly": "unchanged", "hourly": "unchanged"}


def test_changed_code_and_code_that_is_gone(fencepost: Commands, say: Say) -> None:
    """The differences are told; nothing is deleted unless that is asked for."""
    say("'nightly', '30 2 * * *', report", "'hourly', '@hourly', report")
    sync(fencepost)
    say("'nightly', '30 2 * * *', report.options(priority=8), payload={'user_id': 42}")
    answers = sync(fencepost, "--dry-run")
    assert actions(answers) == {"nightly": "edited", "hourly": "undeclared"}
    differences = {one["field"]: (one["schedule"], one["code"]) for one in answers["nightly"]["differences"]}
    assert differences == {"priority": (5, 8), "payload": ({}, {"user_id": 42})}
    assert actions(sync(fencepost, "--prune", "--yes")) == {"nightly": "edited", "hourly": "deleted"}
    assert actions(sync(fencepost)) == {"nightly": "unchanged"}


def test_nothing_is_pruned_that_nobody_has_said_yes_to(fencepost: Commands, say: Say) -> None:
    """Nor is anything else done: without a terminal --yes must be given; on one, the schedules are named."""
    say("'nightly', '30 2 * * *', report", "'hourly', '@hourly', report")
    assert actions(sync(fencepost, "--prune")) == {"nightly": "created", "hourly": "created"}
    say("'nightly', '0 3 * * *', report")
    refused = fencepost.run("schedules", "sync", "crew:app", "--prune")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "error: --yes: must be given to delete without a terminal\n"
    assert actions(sync(fencepost, "--prune", "--dry-run")) == {"nightly": "edited", "hourly": "deleted"}
    code, screen = on_a_terminal(fencepost, "schedules", "sync", "crew:app", "--prune", typed="n\n")
    assert (code, "delete schedule hourly? [y/N]" in screen, "nothing was changed" in screen) == (
        1,
        True,
        True,
    )
    assert actions(sync(fencepost, "--dry-run")) == {"nightly": "edited", "hourly": "undeclared"}
    code, _ = on_a_terminal(fencepost, "schedules", "sync", "crew:app", "--prune", typed="y\n")
    assert (code, actions(sync(fencepost))) == (0, {"nightly": "unchanged"})


def test_drift_is_shown_and_left_alone(fencepost: Commands, say: Say) -> None:
    """By a sync with who has edited it, by the list and by the schedule itself without the code."""
    say("'nightly', '30 2 * * *', report", "'hourly', '@hourly', report")
    sync(fencepost)
    fencepost.json("schedules", "edit", "nightly", "--overlap", "allow", "--payload", '{"user_id": 7}')
    answer = sync(fencepost)["nightly"]
    assert (answer["action"], answer["declared_by"]) == ("drifted", "crew:app")
    assert answer["edited_by"].startswith("user:")
    shown = {one["field"]: (one["schedule"], one["code"]) for one in answer["differences"]}
    assert shown == {"overlap": ("allow", "skip"), "payload": ({"user_id": 7}, {})}
    listed = {
        one["name"]: (one["declared_by"], one["drifted"]) for one in fencepost.lines("schedules", "list")
    }
    assert listed == {"nightly": ("crew:app", ["overlap", "payload"]), "hourly": ("crew:app", [])}
    drift = fencepost.json("schedules", "show", "nightly")["drift"]
    assert [one["field"] for one in drift] == ["overlap", "payload"]
    table = fencepost.run("schedules", "show", "nightly", "--output", "table").stdout
    assert "overlap: allow, in the code skip" in table


def test_conflicts_are_for_somebody_to_end(fencepost: Commands, say: Say) -> None:
    """Exit code 4 until the code has its way, or says what the operator has said."""
    say("'nightly', '30 2 * * *', report")
    sync(fencepost)
    fencepost.json("schedules", "edit", "nightly", "--overlap", "allow")
    say("'nightly', '0 3 * * *', report")
    assert actions(sync(fencepost, code=4)) == {"nightly": "conflict"}
    table = fencepost.run("schedules", "sync", "crew:app", "--output", "table")
    assert (table.returncode, table.stderr) == (4, "1 conflict\n")
    assert "cron: 30 2 * * *, in the code 0 3 * * *; overlap: allow, in the code skip" in table.stdout
    say("'nightly', '30 2 * * *', report, overlap='allow'")
    assert actions(sync(fencepost)) == {"nightly": "adopted"}
    say("'nightly', '0 3 * * *', report")
    assert actions(sync(fencepost)) == {"nightly": "edited"}


def test_a_delete_says_that_it_does_not_last(fencepost: Commands, say: Say) -> None:
    """While the code declares the schedule; nothing is said of others."""
    say("'nightly', '30 2 * * *', report")
    sync(fencepost)
    done = fencepost.run("schedules", "delete", "nightly", "--yes")
    assert (done.returncode, done.stderr.count("crew:app creates it again")) == (0, 1)
    assert actions(sync(fencepost)) == {"nightly": "created"}
    fencepost.json("schedules", "add", "by-hand", "--cron", "@daily", "--type", "report")
    assert fencepost.run("schedules", "delete", "by-hand", "--yes").stderr == ""


def test_code_that_does_not_fit_is_one_line_with_its_place(fencepost: Commands, say: Say) -> None:
    """Before anything connects: exit code 2."""
    say("'nightly', '30 2 30 2 *', report")
    done = fencepost.run("schedules", "sync", "crew:app", "--database-url", "postgresql://127.0.0.1:1/x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "InvalidInput: cron: " in done.stderr
    assert "crew.py:10" in done.stderr


def test_a_worker_syncs_before_it_claims(fencepost: Commands, say: Say) -> None:
    """What is declared fires, and runs; the worker is the actor."""
    say("'second', 'every 1s', report")
    worker = fencepost.start("worker", "crew:app", "--build", "v7")
    worker.said("worker started")
    scheduler = fencepost.start("scheduler")
    done = eventually(lambda: fencepost.lines("jobs", "list", "--state", "succeeded"), within=30)
    assert done is not None
    assert done[0]["type"] == "report"
    assert scheduler.stop() == 0
    assert worker.stop() == 0
    records = logged(worker.log)
    assert [(one["event"], one.get("action")) for one in records[:2]] == [
        ("schedule second: created", "created"),
        ("worker started", None),
    ]
    [created] = fencepost.lines(*CREATED)
    assert created["actor"] == records[1]["worker"]


def test_a_worker_starts_whatever_becomes_of_its_schedules(fencepost: Commands, say: Say) -> None:
    """One that can never fire is an error in the log, and the others are there."""
    say(
        "'over', '@hourly', report, ends_at=__import__('datetime').datetime(2001, 1, 1).astimezone()",
        "'hourly', '@hourly', report",
    )
    worker = fencepost.start("worker", "crew:app")
    worker.said("worker started")
    assert worker.stop() == 0
    [error] = [one for one in logged(worker.log) if one["level"] == "error"]
    assert (error["event"], error["schedule"]) == ("schedule over could not be synced", "over")
    assert error["error"].startswith("ends_at: ")
    assert [one["subject"] for one in fencepost.lines(*CREATED)] == ["schedule:hourly"]


def test_a_schedule_that_somebody_holds_up_is_synced_later(
    fencepost: Commands, say: Say, database: str
) -> None:
    """The worker starts all the same, and tries again beside its work; the others are not held up."""
    say("'nightly', '30 2 * * *', report")
    sync(fencepost)
    say("'nightly', '0 3 * * *', report", "'hourly', '@hourly', report")
    with psycopg.connect(database) as holder:
        holder.execute("SELECT FROM fencepost.schedules FOR UPDATE")
        worker = fencepost.start("worker", "crew:app")
        worker.said("worker started")
        assert {one["name"] for one in fencepost.lines("schedules", "list")} == {"nightly", "hourly"}
    worker.said("schedules are synced now", within=30)
    assert worker.stop() == 0
    errors = [one["event"] for one in logged(worker.log) if one["level"] == "error"]
    assert errors == ["schedule nightly could not be synced"]
    assert actions(sync(fencepost)) == {"nightly": "unchanged", "hourly": "unchanged"}


@pytest.fixture
def lesser(database: str) -> Iterator[str]:
    """The address for a role that may do everything but touch schedules."""
    name = f"lesser_{secrets.token_hex(4)}"
    role = sql.Identifier(name)
    with psycopg.connect(database, autocommit=True) as owner:
        for grant in LESSER:
            owner.execute(sql.SQL(grant).format(role))
        try:
            yield make_conninfo(database, user=name, password="p")
        finally:
            owner.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(role))


def test_a_role_that_may_not_touch_schedules_can_still_run_jobs(
    fencepost: Commands, say: Say, lesser: str
) -> None:
    """Its worker says so once, and works."""
    say("'hourly', '@hourly', report")
    worker = fencepost.having(FENCEPOST_DATABASE_URL=lesser).start("worker", "crew:app")
    worker.said("worker started")
    job = fencepost.json("jobs", "submit", "report")["job_id"]
    assert fencepost.run("jobs", "wait", str(job)).returncode == 0
    assert worker.stop() == 0
    assert worker.log.read_text().count("permission denied for table schedules") == 1


def test_a_worker_can_leave_it_to_the_deployment(fencepost: Commands, say: Say) -> None:
    """Processes under a supervisor, too."""
    say("'hourly', '@hourly', report")
    for flags in ((), ("--processes", "2")):
        worker = fencepost.start("worker", "crew:app", "--no-sync", *flags)
        worker.said('"worker started"', times=2 if flags else 1)
        assert worker.stop() == 0
    assert fencepost.lines(*CREATED) == []


def test_workers_that_start_at_once_create_each_schedule_once(fencepost: Commands, say: Say) -> None:
    """Two supervisors with three processes each."""
    say(*(f"'{name}', '@hourly', report" for name in "abc"))
    crews = [fencepost.start("worker", "crew:app", "--processes", "3") for _ in range(2)]
    for crew in crews:
        crew.said('"worker started"', times=3, within=60)
        assert crew.stop() == 0
        assert [one for one in logged(crew.log) if one["level"] == "error"] == []
    subjects = [one["subject"] for one in fencepost.lines(*CREATED)]
    assert sorted(subjects) == ["schedule:a", "schedule:b", "schedule:c"]
