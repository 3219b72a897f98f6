"""Queues, the schema, the audit, and how data are printed."""

import json
from collections.abc import Callable
from urllib.parse import urlsplit

import psycopg
import pytest

from support.commands import Commands
from support.polling import eventually

Submit = Callable[..., int]


def test_a_queue_is_paused_and_resumed(fencepost: Commands, submit: Submit) -> None:
    """Both are answered per queue, listed, and kept in the global history with actor and reason."""
    submit("echo", "--queue", "mail")
    assert fencepost.json("queues", "pause", "mail", "--reason", "upkeep")["verdict"] == "accepted"
    assert fencepost.json("queues", "pause", "mail")["verdict"] == "already_applied"
    [queue] = fencepost.lines("queues", "list")
    assert (queue["name"], queue["due"], bool(queue["paused_at"])) == ("mail", 1, True)
    assert fencepost.json("queues", "resume", "mail")["verdict"] == "accepted"
    log = fencepost.lines("audit", "log", "--name", "queue_paused", "--name", "queue_resumed")
    assert [event["subject"] for event in log] == ["queue:mail", "queue:mail"]
    assert log[0]["reason"] == "upkeep"


@pytest.mark.parametrize("operation", ["pause", "resume"])
def test_a_queue_must_be_named(bare: Commands, operation: str) -> None:
    """Without a name the usage error says how the command goes on."""
    done = bare.run("queues", operation)
    assert (done.returncode, done.stderr) == (
        2,
        f"error: NAME: must be given: fencepost queues {operation} NAME\n",
    )


@pytest.mark.parametrize("arguments", [("pause", "no spaces"), ("resume", "ok", "")])
def test_a_bad_queue_name_is_a_usage_error(bare: Commands, arguments: tuple[str, ...]) -> None:
    """The name's rule is the domain's."""
    done = bare.run("queues", *arguments, "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert done.returncode == 2
    assert done.stderr.startswith("error: queue: must match")


def test_the_log_is_filtered_and_paged(fencepost: Commands, submit: Submit) -> None:
    """By name, actor, job and time; the next page is named on stderr."""
    jobs = [submit("echo") for _ in range(3)]
    fencepost.run("jobs", "cancel", str(jobs[0]))
    log = fencepost.lines("audit", "log", "--job", str(jobs[0]))
    assert [event["name"] for event in log] == ["enqueued", "cancelled"]
    positions = [event["position"] for event in fencepost.lines("audit", "log", "--name", "enqueued")]
    assert positions == sorted(positions)
    page = fencepost.run("audit", "log", "--limit", "2")
    assert f"--after {positions[1]}" in page.stderr
    assert fencepost.lines("audit", "log", "--actor", "user:nobody-of-this-name") == []
    assert len(fencepost.lines("audit", "log", "--since", "1h")) == 4
    assert fencepost.lines("audit", "log", "--since", "2999-01-01T00:00:00Z") == []


def test_a_misspelt_event_is_refused_with_the_nearest(bare: Commands) -> None:
    """An empty log would look like a clean one."""
    done = bare.run("audit", "log", "--name", "dide")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "such as died" in done.stderr


@pytest.mark.parametrize("since", ["yesterday", "2026-01-31", "12:00"])
def test_since_says_that_it_takes_durations_and_moments(fencepost: Commands, since: str) -> None:
    """Whatever was meant, the error shows both forms."""
    done = fencepost.run("audit", "log", "--since", since)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "2h" in done.stderr
    assert "2026-01-31T12:00:00Z" in done.stderr


def test_the_log_is_followed(fencepost: Commands, submit: Submit) -> None:
    """`--follow` prints what is there and then what comes, each event once."""
    first = submit("echo")
    following = fencepost.start("audit", "log", "--follow")
    assert following.process.stdout is not None
    assert json.loads(following.process.stdout.readline())["job_id"] == first
    second = submit("echo")
    assert json.loads(following.process.stdout.readline())["job_id"] == second


@pytest.mark.unproven("it forges a row")
def test_a_clean_history_is_verified_and_a_forged_one_is_not(
    fencepost: Commands, submit: Submit, database: str
) -> None:
    """Exit code 0 and counts when every promise holds; 1 and the violation when a row was tampered with."""
    job = submit("echo")
    clean = fencepost.json("audit", "verify")
    assert (clean["clean"], clean["events"], clean["jobs"], clean["violations"]) == (True, 1, 1, [])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE fencepost.jobs SET failures = 1 WHERE job_id = %s", [job])
    forged = fencepost.run("audit", "verify", "--job", str(job))
    assert forged.returncode == 1
    report = json.loads(forged.stdout)
    assert report["violations_by_invariant"] == {"I2": 1}
    assert report["violations"][0]["job_id"] == job
    assert fencepost.run("audit", "verify", "--job", "999999").returncode == 3


@pytest.mark.unproven("it forges an event about a job that is gone")
def test_a_job_that_is_lost_altogether_is_a_violation_not_unknown(fencepost: Commands, database: str) -> None:
    """A job of which only a control event tells has neither events nor a row: exit code 1 and I26, not 3."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO fencepost.control_events (subject, name, at, actor)"
            " VALUES ('job:7', 'report_refused', now(), 'worker:1')"
        )
    lost = fencepost.run("audit", "verify", "--job", "7")
    assert lost.returncode == 1
    report = json.loads(lost.stdout)
    assert (report["jobs"], report["violations_by_invariant"]) == (0, {"I26": 1})
    assert fencepost.run("audit", "verify", "--job", "8").returncode == 3


def test_migrations_are_applied_once(bare: Commands, empty18: str) -> None:
    """`status` fails while something is pending; `migrate` applies it, and a second time nothing."""
    fencepost = bare.having(FENCEPOST_DATABASE_URL=empty18)
    before = fencepost.run("db", "status")
    pending = json.loads(before.stdout)["pending"]
    assert before.returncode == 1
    assert pending
    first = fencepost.run("db", "migrate")
    assert json.loads(first.stdout)["applied"] == pending
    assert all(version in first.stderr for version in pending)
    second = fencepost.run("db", "migrate")
    assert json.loads(second.stdout)["applied"] == []
    assert "nothing was pending" in second.stderr
    assert fencepost.json("db", "status")["pending"] == []


def test_a_schema_of_a_newer_version_is_good_enough(bare: Commands, own_database: str) -> None:
    """Old programs go on beside newer ones: a version they do not know is no reason to refuse, nor to migrate."""
    fencepost = bare.having(FENCEPOST_DATABASE_URL=own_database)
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute("UPDATE fencepost.schema_versions SET version_num = '9999'")
    assert fencepost.json("db", "status")["pending"] == []
    assert fencepost.json("db", "migrate")["applied"] == []
    assert fencepost.worker().stop() == 0


def test_the_schema_is_printed_without_a_database(bare: Commands) -> None:
    """`db sql` connects to nothing, and is nothing but SQL."""
    done = bare.run("db", "sql", "--schema", "elsewhere")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'CREATE TABLE "elsewhere".jobs' in done.stdout


@pytest.mark.parametrize("command", [("worker", "shop:app"), ("scheduler",), ("api", "--port", "0")])
def test_nothing_runs_on_a_schema_with_pending_migrations(
    bare: Commands, empty18: str, command: tuple[str, ...]
) -> None:
    """A process of this version refuses an older schema in one line that names the cure."""
    done = bare.having(FENCEPOST_DATABASE_URL=empty18).process(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "fencepost db migrate" in done.stderr.splitlines()[-1]


def test_data_are_printed_as_asked(fencepost: Commands, submit: Submit) -> None:
    """Ndjson for programs by default, one JSON document or a table when asked; nothing else on stdout."""
    jobs = [submit("echo"), submit("echo")]
    default = fencepost.run("jobs", "list")
    assert [json.loads(line)["job_id"] for line in default.stdout.splitlines()] == jobs[::-1]
    document = json.loads(fencepost.run("jobs", "list", "--output", "json").stdout)
    assert [job["job_id"] for job in document] == jobs[::-1]
    table = fencepost.having(NO_COLOR="1").run("jobs", "list", "--output", "table").stdout
    assert "job_id" in table
    assert "\x1b" not in table


def test_an_outage_is_exit_code_5(bare: Commands) -> None:
    """Every command that needs the database says so in one line."""
    fencepost = bare.having(FENCEPOST_DATABASE_URL="postgresql://127.0.0.1:1/jobs")
    for command in (
        ["jobs", "list"],
        ["queues", "list"],
        ["audit", "verify"],
        ["db", "status"],
        ["db", "migrate"],
    ):
        done = fencepost.run(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (5, "", 1), done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["jobz"], 2),
        (["jobs", "list"], 5),
        (["db", "sql"], 0),
        (["worker", "shop:ap"], 2),
    ],
)
def test_a_process_does_what_its_main_does(bare: Commands, arguments: list[str], code: int) -> None:
    """Most commands are called in the tests' own process: as one of its own each says and leaves the same."""
    fencepost = bare.having(FENCEPOST_DATABASE_URL="postgresql://127.0.0.1:1/jobs")
    called, ran = fencepost.run(*arguments), fencepost.process(*arguments)
    assert (ran.returncode, ran.stdout, ran.stderr) == (called.returncode, called.stdout, called.stderr)
    assert ran.returncode == code


def test_a_reader_that_leaves_early_is_no_error(fencepost: Commands, submit: Submit) -> None:
    """`fencepost jobs list | head -1` ends quietly."""
    submit("echo")
    listing = fencepost.start("audit", "log", "--follow")
    assert listing.process.stdout is not None
    listing.process.stdout.readline()
    listing.process.stdout.close()
    submit("echo")
    eventually(lambda: listing.process.poll() is not None)
    assert "Traceback" not in listing.log.read_text()


@pytest.mark.unproven("it forges a schedule's row")
def test_a_schedule_is_verified_with_its_ledger(fencepost: Commands, database: str) -> None:
    """What waits for its decision is an alert, by exit code 1; what was forged is a violation."""
    fencepost.run("schedules", "add", "report", "--cron", "*/5 * * * *", "--type", "work")
    clean = fencepost.json("audit", "verify")
    assert (clean["clean"], clean["schedules"], clean["alerts"]) == (True, 1, [])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE fencepost.schedules SET next_fire_at = next_fire_at - interval '1 day'")
    done = fencepost.run("audit", "verify")
    report = json.loads(done.stdout)
    assert (done.returncode, len(report["alerts"])) == (1, 1)
    assert report["violations_by_invariant"] == {"I29": 1}
    assert not report["clean"]
    assert "late schedules: 1 (does a `fencepost scheduler` run?)" in done.stderr


def test_a_database_that_is_not_there_is_to_be_created(bare: Commands, database: str) -> None:
    """What waits for it says so in its log, and who asks once is told."""
    address = urlsplit(database)._replace(path="/nosuch").geturl()
    done = bare.run("jobs", "list", "--database-url", address)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.endswith('database "nosuch" does not exist; create it first\n')
    scheduler = bare.start("scheduler", "--database-url", address)
    scheduler.said("does not exist; create it first")
    assert scheduler.stop() == 0
