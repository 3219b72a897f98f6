"""`fencepost api` as a process; one server is enough for that."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from fencepost.adapters.postgres.migrations import migrate
from support.calling import call

ONE_SERVER = pytest.mark.parametrize("server", ["pg18"], indirect=True)
API = [sys.executable, "-m", "fencepost.entrypoints.cli", "api", "--port", "0"]


@contextmanager
def api(dsn: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that serves on a free port, and its address."""
    process = subprocess.Popen([*API, "--database-url", dsn], stderr=subprocess.PIPE, text=True)
    try:
        yield process, _url(process)
    finally:
        process.kill()
        process.communicate()


def _url(process: "subprocess.Popen[str]") -> str:
    """Read the log until it says where the process listens."""
    assert process.stderr is not None
    for line in process.stderr:
        record = json.loads(line)
        if record["event"] == "api started":
            url: str = record["url"]
            return url
    pytest.fail("the process ended before it listened")


@ONE_SERVER
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(emptied: str, number: signal.Signals) -> None:
    """It serves, and on the first signal it leaves with exit code 0."""
    with api(emptied) as (process, url):
        assert httpx2.post(f"{url}/v1/jobs", json={"type": "t"}).status_code == 201
        assert httpx2.get(f"{url}/readyz").status_code == 200
        process.send_signal(number)
        assert process.wait(10) == 0


def test_it_serves_while_the_database_is_away() -> None:
    """Started without a database it lives, says so, and still stops in good order."""
    with api("postgresql://postgres@127.0.0.1:1/nothing") as (process, url):
        assert httpx2.get(f"{url}/livez").status_code == 200
        assert httpx2.get(f"{url}/readyz").json()["code"] == "database_unavailable"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def refused(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """What a command said that would not serve."""
    return call([*API[3:], *arguments], folder, {**os.environ, **environment})


@ONE_SERVER
def test_it_does_not_start_on_an_old_schema(empty_database: str, tmp_path: Path) -> None:
    """A schema that is not up to date is refused at the start, until it is migrated."""
    ended = refused(tmp_path, "--database-url", empty_database)
    assert ended.returncode != 0
    assert "fencepost db migrate" in ended.stderr
    migrate(empty_database)
    with api(empty_database) as (_, url):
        assert httpx2.get(f"{url}/readyz").status_code == 200


def test_it_listens_on_loopback_only(tmp_path: Path) -> None:
    """Neither a flag nor the environment gets it onto the network."""
    nowhere = "postgresql://postgres@127.0.0.1:1/nothing"
    for ended in (
        refused(tmp_path, "--database-url", nowhere, "--host", "0.0.0.0"),
        refused(tmp_path, "--database-url", nowhere, FENCEPOST_API_HOST="0.0.0.0"),
    ):
        assert ended.returncode == 2
        assert "loopback" in ended.stderr
