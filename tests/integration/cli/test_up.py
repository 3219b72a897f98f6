"""`fencepost up`: everything on one machine, started and stopped as one."""

import json
import os
import shutil
import signal
import socket
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from fencepost.adapters.embedded import EmbeddedPostgres
from support.commands import Commands, Running
from support.polling import eventually


@pytest.fixture
def up(bare: Commands) -> Iterator[Commands]:
    """The command line in a folder that the embedded server's user can pass through; nothing outlives the test."""
    folder = Path(tempfile.mkdtemp(prefix="fencepost-up-")).resolve()
    folder.chmod(0o711)
    shutil.copy(bare.folder / "shop.py", folder)
    commands = attrs.evolve(bare, folder=folder)
    yield commands
    commands.kill()
    EmbeddedPostgres(folder / ".fencepost").stop()
    shutil.rmtree(folder)


def started(up: Commands, *arguments: str) -> tuple[Running, dict[str, str]]:
    """Start everything and wait for the addresses that it prints."""
    running = up.start("up", "--port", "0", *arguments)
    assert running.process.stdout is not None
    line = running.process.stdout.readline()
    assert line, running.log.read_text()
    return running, json.loads(line)


def descendants(pid: int) -> dict[int, str]:
    """The processes a process has started, with their command lines."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = {int(child): Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in children}
    return {child: command for child, command in found.items() if "entrypoints.tied" in command}


def alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def test_a_job_is_done_and_the_data_survive(up: Commands) -> None:
    """Started, used from the same folder without naming a database, stopped with exit code 0, started again."""
    running, addresses = started(up, "--app", "shop:app")
    assert "***" in addresses["database"]
    with urllib.request.urlopen(addresses["api"] + "/readyz") as answer:
        assert answer.status == 200
    job = up.json("jobs", "submit", "echo", "--payload", '{"text": "hi"}')["job_id"]
    assert up.json("jobs", "wait", str(job), "--timeout", "30s")["result"] == "hi"
    assert running.stop() == 0
    assert up.run("jobs", "list").returncode == 2
    again, _ = started(up)
    assert up.json("jobs", "show", str(job))["state"] == "succeeded"
    assert up.json("audit", "verify")["clean"]
    again.ask(signal.SIGINT)
    assert again.code() == 0


def test_command_lines_need_no_app(up: Commands) -> None:
    """A worker is there for them when it is allowed: cron in one process tree, with a history."""
    running, _ = started(up, "--allow-shell")
    job = up.json("jobs", "submit", "shell.run", "--payload", '{"command": "echo hi"}')["job_id"]
    assert up.json("jobs", "wait", str(job), "--timeout", "30s")["result"]["stdout"] == "hi\n"
    assert running.stop() == 0


def test_nothing_outlives_it_even_when_it_is_killed(up: Commands) -> None:
    """Killed the hard way, its children and its PostgreSQL end by themselves.

    A worker whose claim was cut off asks for its outcome until its drain grace is over.
    """
    running, _ = started(up.having(FENCEPOST_DRAIN_GRACE="5s"), "--app", "shop:app")
    children = descendants(running.process.pid)
    assert len(children) == 3
    running.ask(signal.SIGKILL)
    assert running.code() == -signal.SIGKILL
    eventually(lambda: not any(alive(child) for child in children), within=30)
    eventually(lambda: up.run("jobs", "list").returncode == 2, within=30)


def test_a_child_that_dies_is_started_again(up: Commands) -> None:
    """A killed worker is replaced and jobs go on."""
    running, _ = started(up, "--app", "shop:app", "--workers", "2")
    children = descendants(running.process.pid)
    workers = [child for child, command in children.items() if " worker shop:app" in command]
    assert len(workers) == 2
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    running.said("starting it again")
    job = up.json("jobs", "submit", "echo")["job_id"]
    assert up.run("jobs", "wait", str(job), "--timeout", "30s").returncode == 0
    assert running.stop() == 0


def test_a_bad_app_is_told_before_anything_starts(up: Commands) -> None:
    """It is imported before PostgreSQL is started: exit code 2 in one line, and nothing is left behind."""
    done = up.run("up", "--port", "0", "--app", "shop:nothing")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "there is app, empty" in done.stderr
    assert not (up.folder / ".fencepost").exists()


def test_a_port_in_use_is_told_before_anything_starts(up: Commands) -> None:
    """Another program's address is not announced as the API's."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = up.run("up", "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: cannot listen on 127.0.0.1, port {port}: Address already in use\n"
    assert not (up.folder / ".fencepost").exists()


def test_it_runs_its_own_database_only(up: Commands) -> None:
    """Naming another database is a usage error, not ignored."""
    done = up.run("up", "--database-url", "postgresql://elsewhere/jobs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: database_url: ")
