"""What was answered 201 is durable: the process is killed under load, and nothing of that is missing."""

import json
import re
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import psycopg
import pytest

from support.commands import Running
from support.polling import eventually
from support.site import Site, site_over

CLIENTS = 24
ENOUGH = 600


@pytest.fixture
def site(database: str, tmp_path: Path) -> Iterator[Site]:
    """A place for processes over a database of the test's own."""
    with site_over(database, tmp_path) as site:
        yield site


def submit_until_it_ends(port: int, accepted: list[tuple[int, int]], numbers: Iterator[int]) -> None:
    """Submit one job after the other; note number and job id of each that was answered 201."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        for number in numbers:
            body = json.dumps({"type": "t", "payload": {"n": number}})
            connection.request("POST", "/v1/jobs", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            job_id = json.loads(answer.read())["job_id"]
            assert answer.status == 201
            accepted.append((number, job_id))
    except (OSError, HTTPException):
        return
    finally:
        connection.close()


@pytest.mark.parametrize("server", ["pg18"], indirect=True)
def test_every_answered_submit_survives_a_kill(site: Site, database: str) -> None:
    """SIGKILL of the API in the middle of many submits: each 201 is a row with its ``enqueued`` event, once."""
    process = site.commands.start("api", "--port", "0")
    accepted: list[tuple[int, int]] = []
    clients = [
        threading.Thread(
            target=submit_until_it_ends,
            args=(port_of(process), accepted, iter(range(first, 10**9, CLIENTS))),
        )
        for first in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    assert eventually(lambda: len(accepted) > ENOUGH)
    process.process.kill()
    for client in clients:
        client.join()
    there = rows(database)
    assert len(accepted) > ENOUGH
    assert len({number for number, _ in there}) == len(there)
    assert set(accepted) <= set(there)
    assert len(there) <= len(accepted) + CLIENTS


def port_of(process: Running) -> int:
    """Where the API listens."""
    found = re.search(r'"url": "http://127\.0\.0\.1:(\d+)"', process.said("api started"))
    assert found is not None
    return int(found[1])


def rows(dsn: str) -> list[tuple[int, int]]:
    """Number and id of every job with an ``enqueued`` event."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(
            "SELECT (j.payload ->> 'n')::int, job_id FROM fencepost.jobs AS j "
            "JOIN fencepost.job_events AS e USING (job_id) WHERE e.name = 'enqueued'"
        ).fetchall()
