"""Jobs of type `shell.run` under real workers: what a command gets, and what becomes of how it ends."""

import getpass
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.commands import Commands, Running

Run = Callable[..., dict[str, Any]]


def shell_worker(fencepost: Commands, *arguments: str) -> Running:
    """A worker that runs command lines, once it works."""
    worker = fencepost.start("worker", "--allow-shell", *arguments)
    worker.said("worker started")
    return worker


@pytest.fixture
def run(fencepost: Commands) -> Run:
    """Runs one command, in its only attempt unless it is given more, and returns the finished job."""

    def run(command: str, attempts: int = 1, **members: Any) -> dict[str, Any]:
        payload = json.dumps({"command": command, **members})
        submitted = fencepost.json(
            "jobs", "submit", "shell.run", "--payload", payload, "--max-attempts", str(attempts)
        )
        shell_worker(fencepost)
        job: dict[str, Any] = json.loads(fencepost.run("jobs", "wait", str(submitted["job_id"])).stdout)
        return job

    return run


def test_a_command_that_ends_with_zero_has_succeeded(run: Run) -> None:
    """Its result has what it wrote, each stream for itself."""
    job = run("echo hello; echo careful >&2")
    assert job["state"] == "succeeded"
    assert job["result"] == {
        "exit_code": 0,
        "stdout": "hello\n",
        "stderr": "careful\n",
        "stdout_bytes": 6,
        "stderr_bytes": 8,
    }


def test_any_other_exit_code_is_a_failure_with_the_last_words(run: Run) -> None:
    """Four KiB of them, standard error first."""
    job = run("seq 1 5000; seq 1 5000 | sed 's/^/bad /' >&2; exit 3")
    error = job["error"]
    assert (job["state"], error["type"], error["message"]) == ("dead", "exit_code", "exit code 3")
    stderr, _, stdout = error["traceback"].removeprefix("stderr:\n").partition("\nstdout:\n")
    assert stderr.endswith("bad 4999\nbad 5000\n")
    assert stdout.endswith("4999\n5000\n")
    assert 4000 < len(stderr + stdout) <= 4096


@pytest.mark.parametrize(("command", "code"), [("kill -9 $$", 137), ("no-such-program", 127), ("false", 1)])
def test_exit_codes_are_those_that_shells_tell(run: Run, command: str, code: int) -> None:
    """Also for a signal, and for a program that is not there."""
    assert run(command)["error"]["message"] == f"exit code {code}"


def test_standard_input_is_the_payloads(run: Run) -> None:
    """However long it is, and whether it is read or not."""
    text = "first\nsecond: ü\n" * 5_000
    job = run("wc -c; head -n 1 /dev/null", stdin=text)
    assert job["result"]["stdout"].split() == [str(len(text.encode()))]


def test_without_standard_input_there_is_nothing_to_read(run: Run) -> None:
    """A command that asks does not wait for an answer."""
    assert run("cat; echo done")["result"]["stdout"] == "done\n"


def test_the_environment_is_crons_and_not_the_workers(run: Run) -> None:
    """No address of a database is handed on; what the job says is added, and the payload's is above all."""
    job = run("env; pwd", environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "COLOUR": "blue = green"})
    *lines, folder = job["result"]["stdout"].splitlines()
    found = dict(
        line.split("=", 1) for line in lines if not line.startswith(("PWD=", "_=", "SHLVL=", "OLDPWD="))
    )
    home = str(Path("~").expanduser())
    user = getpass.getuser()
    assert found.pop("JOB_SCHEDULED_FOR").endswith("Z")
    assert found == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "LOGNAME": user,
        "USER": user,
        "SHELL": "/bin/sh",
        "COLOUR": "blue = green",
        "JOB_ID": str(job["job_id"]),
        "JOB_ATTEMPT": "1",
        "JOB_IDEMPOTENCY_KEY": f"job-{job['job_id']}",
    }
    assert folder == home


def test_shell_and_directory_are_the_payloads(run: Run, tmp_path: Path) -> None:
    """As a crontab's SHELL and HOME would have it."""
    job = run("echo ${BASH_VERSION:+bash} $0; pwd", shell="/bin/bash", directory=str(tmp_path))
    assert job["result"]["stdout"].split() == ["bash", "/bin/bash", str(tmp_path)]


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"directory": "/no/such/folder"}, ("no_directory", "there is no directory /no/such/folder")),
        ({"shell": "/no/such/shell"}, ("exit_code", "exit code 127")),
        ({"shell": "sh"}, ("bad_payload", "payload.shell: must be an absolute path")),
        ({"timeout": 5}, ("bad_payload", "payload.timeout: is no member of a shell.run payload")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_run_says_why(run: Run, members: dict[str, Any], error: tuple[str, str]) -> None:
    """It is a failure like any other."""
    job = run("true", **members)
    assert (job["error"]["type"], job["error"]["message"]) == error


def test_a_command_of_another_user_is_dead_at_once(run: Run) -> None:
    """Whoever runs the worker would otherwise lend it their rights."""
    job = run("id", attempts=5, user="somebody-else")
    assert (job["state"], job["attempt"], job["error"]["type"]) == ("dead", 1, "discarded")
    assert "is to run as somebody-else" in job["error"]["message"]


@pytest.mark.parametrize(
    ("command", "members", "where"),
    [
        ("true " + "\U0001f600" * 32_763, {}, "the command line"),
        ("true", {"environment": {"A": "b", "BIG": "\U0001f600" * 32_768}}, "BIG"),
    ],
    ids=["command", "variable"],
)
def test_what_the_system_does_not_start_is_dead_at_once_and_says_how_large_it_is(
    run: Run, command: str, members: dict[str, Any], where: str
) -> None:
    """Another attempt would end alike."""
    job = run(command, attempts=5, **members)
    assert (job["state"], job["attempt"], job["error"]["type"]) == ("dead", 1, "discarded")
    assert f"most of them in {where} (131" in job["error"]["message"]
    assert "Errno" not in str(job["error"])


def test_the_workers_own_user_may_be_named(run: Run) -> None:
    """It changes nothing."""
    assert run("id -un", user=getpass.getuser())["result"]["stdout"] == f"{getpass.getuser()}\n"


def test_of_a_flood_the_end_is_kept(run: Run) -> None:
    """Ten million characters, of which 16 KiB fit; bytes that are no text are replaced."""
    job = run("head -c 10000000 /dev/zero | tr '\\0' x; printf 'end\\377\\001\\000'")
    assert job["result"]["stdout_bytes"] == 10_000_006
    assert job["result"]["stdout"].endswith("xxxend\ufffd\x01\ufffd")
    assert len(job["result"]["stdout"]) > 16_000


def test_without_the_flag_a_job_waits_for_a_worker_that_has_it(fencepost: Commands) -> None:
    """It is not claimed, so that no attempt is lost; the next worker needs no app at all."""
    shell = str(
        fencepost.json("jobs", "submit", "shell.run", "--payload", '{"command": "echo ran"}')["job_id"]
    )
    echo = str(fencepost.json("jobs", "submit", "echo")["job_id"])
    plain = fencepost.worker()
    assert fencepost.run("jobs", "wait", echo).returncode == 0
    waiting = fencepost.json("jobs", "show", shell)
    assert (waiting["state"], waiting["attempt"]) == ("pending", 0)
    shell_worker(fencepost)
    assert json.loads(fencepost.run("jobs", "wait", shell).stdout)["result"]["stdout"] == "ran\n"
    assert plain.stop() == 0


def test_a_worker_takes_command_lines_from_its_own_queues(fencepost: Commands) -> None:
    """Those of its app, or those it is given; the setting is as good as the flag."""
    job = str(
        fencepost.json(
            "jobs", "submit", "shell.run", "--queue", "side", "--payload", '{"command": "echo ran"}'
        )["job_id"]
    )
    allowed = fencepost.having(FENCEPOST_ALLOW_SHELL="true")
    other = allowed.start("worker", "--queues", "default:1")
    assert '"queues": {"default": 1}' in other.said("worker started")
    worker = allowed.worker()
    assert fencepost.run("jobs", "wait", job).returncode == 0
    claimed = fencepost.lines("audit", "log", "--name", "claimed")[0]
    assert claimed["actor"] == json.loads(worker.log.read_text().splitlines()[0])["worker"]


def test_a_supervisor_tells_its_workers(fencepost: Commands) -> None:
    """With no app either."""
    job = str(fencepost.json("jobs", "submit", "shell.run", "--payload", '{"command": "echo ran"}')["job_id"])
    supervisor = fencepost.start("worker", "--allow-shell", "--processes", "2", "--queues", "default:1")
    supervisor.said("worker started", times=2, within=60)
    assert fencepost.run("jobs", "wait", job).returncode == 0
    assert supervisor.stop() == 0


def test_without_an_app_and_without_the_flag_there_is_nothing_to_run(bare: Commands) -> None:
    """The line names both."""
    done = bare.run("worker", "--database-url", "postgresql://127.0.0.1:1/jobs")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "MODULE:APP" in done.stderr
    assert "--allow-shell" in done.stderr
