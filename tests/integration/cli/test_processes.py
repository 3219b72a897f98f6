"""`fencepost worker --processes N`: what is refused, and what is told once instead of N times."""

import json

import pytest

from support.commands import Commands

NOWHERE = "postgresql://127.0.0.1:1/jobs"
IN_A_CHILD = "import sys\nif any(part.endswith('tied') for part in sys.orig_argv):\n"
"""The child's fault, not that of the supervisor, which imports the same app."""
APP = "from shop import app\n"


@pytest.mark.parametrize("value", ["0", "65", "-1", "many", "1.5", ""])
def test_a_number_of_processes_that_cannot_be_is_refused(bare: Commands, value: str) -> None:
    """As a flag and in the environment: one line that names the field and the rule, exit code 2."""
    away = bare.having(FENCEPOST_DATABASE_URL=NOWHERE)
    flag = away.run("worker", "shop:app", f"--processes={value}")
    variable = away.having(FENCEPOST_PROCESSES=value).run("worker", "shop:app")
    for done in (flag, variable):
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert done.stderr == "error: processes: must be a whole number from 1 to 64\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["shop:nothing"], "error: app: "),
        (["shop:app", "--heartbeat=11s"], "error: heartbeat: must be above 0 and at most a third"),
        (["shop:app", "--queues=mail:0"], "error: queues: "),
        (["shop:app", "--database-url=no address"], "error: database_url: "),
    ],
)
def test_what_no_worker_can_have_is_told_once(bare: Commands, arguments: list[str], says: str) -> None:
    """Exit code 2 in one line, before any child is started."""
    away = bare.having(FENCEPOST_DATABASE_URL=NOWHERE)
    done = away.run("worker", *arguments, "--processes=3")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(says)


def test_pending_migrations_are_told_once(bare: Commands, empty18: str) -> None:
    """Exit code 1 in one line that says what to run, before any child is started."""
    done = bare.process("worker", "shop:app", "--processes=3", "--database-url", empty18)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "run `fencepost db migrate`" in done.stderr


def test_a_database_that_is_away_is_waited_for_once(bare: Commands) -> None:
    """The supervisor says so, starts nobody meanwhile, and a stop ends it with exit code 0."""
    waiting = bare.start("worker", "shop:app", "--processes=3", "--database-url", NOWHERE)
    waiting.said("database out of reach")
    assert waiting.stop() == 0
    assert waiting.log.read_text().count("\n") == 1


def test_a_child_that_cannot_be_used_ends_all_at_once(fencepost: Commands) -> None:
    """Exit code 2 of a child is that of the supervisor: nothing is tried again."""
    (fencepost.folder / "unusable.py").write_text(IN_A_CHILD + "    import no_such_library\n" + APP)
    done = fencepost.process("worker", "unusable:app", "--processes=2")
    assert done.returncode == 2, done.stderr
    assert "starting it again" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: worker ")
    assert last.endswith(" ended with exit code 2; its own message is above")


def test_a_child_that_keeps_crashing_is_given_up(fencepost: Commands) -> None:
    """After five short lives of one of them everything ends, with the child's exit code and one line that says so."""
    (fencepost.folder / "crashing.py").write_text(IN_A_CHILD + "    raise SystemExit(3)\n" + APP)
    done = fencepost.process("worker", "crashing:app", "--processes=2")
    assert done.returncode == 3, done.stderr
    *logged, last = done.stderr.splitlines()
    assert "ended with exit code 3, 5 times in a row within 5 s of its start" in last
    told = [json.loads(line)["event"] for line in logged]
    name = last.removeprefix("error: ").partition(" ended ")[0]
    assert f"giving {name} up, and stopping everything" in told
    assert told.count(f"{name} ended with exit code 3; starting it again") == 4


def test_one_process_has_no_supervisor(fencepost: Commands) -> None:
    """As without the flag: the process that was started is the worker."""
    worker = fencepost.worker("--processes=1")
    assert worker.stop() == 0
    records = [json.loads(line) for line in worker.log.read_text().splitlines()]
    assert [
        record["event"] for record in records if "child" in record or "supervisor" in record["event"]
    ] == []


def test_children_take_the_flags_and_their_log_lines_name_them(fencepost: Commands) -> None:
    """Queues, build and the rest reach every child; each line of a child says which one it is."""
    running = fencepost.having(FENCEPOST_PROCESSES="2").start(
        "worker", "shop:app", "--queues=side:3,default:1", "--build=--v7", "--drain-grace=2s"
    )
    logged = [json.loads(line) for line in running.said('"worker started"', times=2).splitlines()]
    started = [record for record in logged if record["event"] == "worker started"]
    assert {record["child"] for record in started} == {"worker 1", "worker 2"}
    assert [record["queues"] for record in started] == [{"side": 3, "default": 1}] * 2
    assert len({record["worker"] for record in started}) == 2
    job = fencepost.json("jobs", "submit", "echo")["job_id"]
    assert fencepost.run("jobs", "wait", str(job)).returncode == 0
    assert fencepost.lines("audit", "log", "--name", "claimed")[0]["build"] == "--v7"
    assert running.stop() == 0
