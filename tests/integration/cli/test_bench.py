"""`fencepost bench`: figures from a schema of its own, and a database that is afterwards as it was before."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from attrs import evolve, frozen

from fencepost.application.ports.event_log import EventLog
from fencepost.application.verifying import verify
from fencepost.domain.invariants import Report, Violation
from support.commands import Commands, Running
from support.databases import new_database
from support.polling import eventually
from support.roles import role_of
from support.terminals import on_a_terminal

QUICK = ("--jobs", "100", "--seconds", "1")
LONG = ("--jobs", "5000000", "--seconds", "60", "--figures", "submit")
FIGURES = ["submit", "drain", "single", "latency"]
OURS = {
    "figure",
    "value",
    "unit",
    "jobs",
    "cut",
    "judged",
    "violations",
    "server",
    "round_trip_ms",
    "durable",
}
CONTENTS = """
SELECT (SELECT array_agg(nspname ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_'),
    (SELECT count(*) FROM fencepost.jobs), (SELECT count(*) FROM fencepost.control_events),
    (SELECT count(*) FROM fencepost.workers), (SELECT count(*) FROM fencepost.queues),
    (SELECT last_value FROM fencepost.positions)
"""
WAITS = """
SELECT FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'fencepost bench' AND wait_event_type = 'Lock'
"""


@frozen
class Theirs:
    """A database with a configured schema, and the command line over it."""

    dsn: str
    commands: Commands

    def contents(self) -> tuple[Any, ...]:
        """The schemas there are, and what the configured one holds."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            [row] = connection.execute(CONTENTS.encode()).fetchall()
            return row

    def measuring(self, *arguments: str) -> Running:
        """Start a run and wait until it measures."""
        running = self.commands.start("bench", *arguments)
        running.said("measuring")
        return running


def over(dsn: str, bare: Commands) -> Theirs:
    """A database with one job of its user's."""
    commands = bare.having(FENCEPOST_DATABASE_URL=dsn)
    commands.json("jobs", "submit", "echo")
    return Theirs(dsn, commands)


@pytest.fixture
def theirs(server: str, template: str, bare: Commands) -> Iterator[Theirs]:
    """On each server in turn."""
    with new_database(server, template) as dsn:
        yield over(dsn, bare)
        bare.kill()


@pytest.fixture
def theirs18(own_database: str, bare: Commands) -> Iterator[Theirs]:
    """On one server."""
    yield over(own_database, bare)
    bare.kill()


def children(running: Running) -> dict[int, str]:
    """The processes a run has started, with their command lines."""
    pid = running.process.pid
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in found}


def test_every_figure_is_measured_and_nothing_is_left(theirs: Theirs) -> None:
    """A line of JSON each, without violations; the schema is gone, and the configured one as it was."""
    before = theirs.contents()
    done = theirs.commands.process("bench", *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    records = list(map(_record, done.stdout.splitlines()))
    assert [record["figure"] for record in records] == FIGURES
    for record in records:
        assert record.keys() >= OURS
        assert record["value"] is not None
        assert (record["violations"], record["judged"] > 100) == (0, True)
    assert "round trip" in done.stderr
    assert theirs.contents() == before


def test_people_get_a_table(theirs18: Theirs) -> None:
    """On a terminal, with what was measured beside each value."""
    code, screen = on_a_terminal(theirs18.commands, "bench", *QUICK, "--figures", "single")
    assert code == 0, screen
    assert "one job a call, 16 callers" in screen
    assert "no violations" in screen
    assert '"figure"' not in screen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_without_a_trace(theirs: Theirs, number: signal.Signals) -> None:
    """Exit code 130, no figure, no schema, no process."""
    before = theirs.contents()
    running = theirs.measuring(*LONG)
    assert theirs.contents() != before
    running.interrupt() if number is signal.SIGINT else running.ask(number)
    assert running.code() == 130
    assert running.process.stdout is not None
    assert running.process.stdout.read() == ""
    assert theirs.contents() == before


def test_an_early_signal_leaves_nothing_either(theirs18: Theirs) -> None:
    """While the schema is being migrated: what the migration still makes is dropped, too."""
    before = theirs18.contents()
    running = theirs18.commands.start("bench", *LONG)
    running.said("round trip")
    running.interrupt()
    assert running.code() == 130
    assert theirs18.contents() == before


@pytest.mark.parametrize("figure", ["latency", "drain"])
def test_a_lost_worker_fails_the_run(theirs18: Theirs, figure: str) -> None:
    """Exit code 1 with the reason; the schema is dropped."""
    before = theirs18.contents()
    running = theirs18.measuring("--figures", figure, "--jobs", "200", "--seconds", "60")
    [worker] = eventually(lambda: [pid for pid, line in children(running).items() if "worker" in line])
    os.kill(worker, signal.SIGKILL)
    assert running.code() == 1
    assert "error: the worker ended with exit code -9" in running.log.read_text()
    assert theirs18.contents() == before


def test_what_a_killed_run_leaves_is_named_and_cleaned(theirs: Theirs) -> None:
    """Its worker ends by itself; only `--clean` drops its schema, and not that of a run that lives."""
    before = theirs.contents()
    killed = theirs.measuring("--figures", "latency", *LONG[:4])
    processes = eventually(lambda: children(killed))
    killed.ask(signal.SIGKILL)
    assert killed.code() == -signal.SIGKILL
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes), within=30)
    alive = theirs.measuring(*LONG)
    [left] = [word for word in alive.log.read_text().split() if word.startswith("fencepost_bench_")]
    assert left.endswith(";")
    cleaned = theirs.commands.json("bench", "--clean")
    assert cleaned == {"schema": left.removesuffix(";"), "dropped": True}
    assert theirs.commands.lines("bench", "--clean") == []
    alive.interrupt()
    assert alive.code() == 130
    assert "left behind (" not in alive.log.read_text()
    assert theirs.contents() == before


def test_somebody_elses_schema_of_such_a_name_is_left_alone(theirs18: Theirs) -> None:
    """Only what bears the mark of a run is cleaned."""
    with psycopg.connect(theirs18.dsn, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA fencepost_bench_0123abcd")
    before = theirs18.contents()
    assert theirs18.commands.lines("bench", "--clean") == []
    assert theirs18.contents() == before


@pytest.mark.parametrize("figure", ["submit", "single"])
def test_a_database_that_is_gone_is_told_with_the_command_that_cleans(
    theirs18: Theirs, server18: str, figure: str
) -> None:
    """It goes on trying until Ctrl-C; the schema it names is there, and can be dropped when the database is back."""
    before = theirs18.contents()
    with role_of(server18) as role:
        commands = theirs18.commands.having(FENCEPOST_DATABASE_URL=role.dsn(theirs18.dsn))
        running = commands.start("bench", *LONG[:4], "--figures", figure)
        running.said("measuring")
        role.run("ALTER ROLE {} NOLOGIN")
        role.throw_out()
        running.said("the schema cannot be dropped now")
        running.interrupt()
        assert running.code() in {1, 5}  # a commit may have been under way
        assert "Traceback" not in running.log.read_text()
        assert "is left behind" in running.log.read_text()
        cleaned = theirs18.commands.json("bench", "--clean")
    assert f"DROP SCHEMA {cleaned['schema']} CASCADE" in running.log.read_text()
    assert theirs18.contents() == before


def test_who_interrupts_twice_gets_the_command_that_cleans(theirs18: Theirs) -> None:
    """A schema that somebody reads cannot be dropped at once; nobody has to wait for that."""
    before = theirs18.contents()
    running = theirs18.measuring(*LONG)
    with psycopg.connect(theirs18.dsn) as reader:
        [schema] = theirs18.contents()[0][1:2]
        reader.execute(f"LOCK TABLE {schema}.jobs IN ACCESS SHARE MODE".encode())
        running.interrupt()
        with psycopg.connect(theirs18.dsn, autocommit=True) as watching:
            eventually(lambda: watching.execute(WAITS).fetchall(), within=20)
        running.interrupt()
        assert running.code() == 130
    assert f"DROP SCHEMA {schema} CASCADE" in running.log.read_text()
    assert theirs18.commands.json("bench", "--clean")["schema"] == schema
    assert theirs18.contents() == before


def test_time_that_is_up_cuts_a_figure(theirs18: Theirs) -> None:
    """It is taken from what has been done, and says so; the jobs left over are dropped with the schema."""
    done = theirs18.commands.process(
        "bench", "--jobs", "5000000", "--seconds", "1", "--figures", "submit,drain"
    )
    assert done.returncode == 0, done.stderr
    records = list(map(_record, done.stdout.splitlines()))
    assert records[0]["cut"] is True
    assert all(0 < record["jobs"] < 5_000_000 for record in records)


def test_a_broken_promise_fails_the_run(theirs18: Theirs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures are printed with the number of violations, each violation is told, and the exit code is 1."""
    from fencepost.entrypoints.bench import run

    async def broken(log: EventLog) -> Report:
        report = await verify(log)
        found = Violation("made up", 1, 1, 1, "for this test")
        return evolve(report, violations=(found,), counts={"made up": 1})

    monkeypatch.setattr(run, "verify", broken)
    done = theirs18.commands.run("bench", *QUICK, "--figures", "single")
    assert done.returncode == 1
    assert _record(done.stdout)["violations"] == 1
    assert "for this test" in done.stderr


def test_without_a_database_it_brings_its_own(bare: Commands) -> None:
    """A temporary server, which is said; nothing is left in the folder."""
    before = sorted(bare.folder.iterdir())
    done = bare.process("bench", *QUICK, "--figures", "single", "--json")
    assert done.returncode == 0, done.stderr
    assert "measuring on a temporary PostgreSQL" in done.stderr
    assert _record(done.stdout)["durable"] is True
    assert sorted(bare.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--jobs", "99"], "jobs: must be"),
        (["--seconds", "0"], "seconds: must be"),
        (["--figures", "submit,drian"], "figures: must be of submit, drain, single, latency, not 'drian'"),
        (["--schema", "mine"], "schema: must not be given"),
        (["--json", "--output", "table"], "output: must be ndjson"),
        (["--clean"], "database_url: names no database"),
    ],
)
def test_what_makes_no_sense_is_refused(bare: Commands, arguments: list[str], said: str) -> None:
    """Field and rule in one line, exit code 2, before anything is started."""
    done = bare.run("bench", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {said}")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"FENCEPOST_POOLER": "true"}, "pooler: must be false"),
        ({"FENCEPOST_WAKEUPS": "false"}, "wakeups: must"),
    ],
)
def test_settings_that_spoil_figures_are_refused(bare: Commands, settings: dict[str, str], said: str) -> None:
    """A pooler, and wake-ups switched off."""
    done = bare.having(**settings).run("bench")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER ROLE {} NOSUPERUSER", "may not make a schema"),
        ("ALTER ROLE {} SET default_transaction_read_only = on", "the server is read-only"),
    ],
)
def test_a_database_where_it_may_not_is_refused(theirs: Theirs, server: str, change: str, said: str) -> None:
    """The right to make a schema, and to write at all, are asked for before anything is made."""
    with role_of(server) as role:
        role.run(change)
        done = theirs.commands.having(FENCEPOST_DATABASE_URL=role.dsn(theirs.dsn)).process("bench")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr


def test_a_role_that_cannot_migrate_is_told_what_an_administrator_has_to_do(
    theirs18: Theirs, server18: str
) -> None:
    """It may make a schema, but not what the guard of the history needs; nothing is left."""
    before = theirs18.contents()
    with role_of(server18) as role:
        role.run("ALTER ROLE {} NOSUPERUSER")
        with psycopg.connect(theirs18.dsn, autocommit=True) as connection:
            connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {role.name}".encode())
            done = theirs18.commands.having(FENCEPOST_DATABASE_URL=role.dsn(theirs18.dsn)).process("bench")
            connection.execute(f"REVOKE ALL ON DATABASE {connection.info.dbname} FROM {role.name}".encode())
    assert (done.returncode, done.stdout) == (1, "")
    assert "GRANT fencepost_keeper" in done.stderr
    assert theirs18.contents() == before


def _record(line: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(line)
    return record
