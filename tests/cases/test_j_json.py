"""B164, B165, B168, B170, B171, B173: JSON through real `fencepost api` and `fencepost worker` processes."""

import gzip
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from attrs import frozen

from support.commands import Running
from support.site import Site, site_over

APPS = Path(__file__).parent / "apps"
JSON = {"content-type": "application/json"}
HEAD = b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
DIGITS = '{"n":9007199254740993,"m":-9223372036854775809}'
TEN_MEGABYTES = b'{"type":"t","payload":{"a":"' + b"x" * 10_000_000 + b'"}}'
GROWTH = 20_000
"""Kilobytes that the API may grow by."""


@frozen
class Api:
    """An API process, and a client of it."""

    process: Running
    client: httpx2.Client

    def post(self, body: str | bytes) -> httpx2.Response:
        """Send bytes as a job."""
        return self.client.post("/v1/jobs", content=body, headers=JSON)

    def text(self, path: str) -> str:
        """What a GET answers, as it is."""
        answer = self.client.get(path)
        assert answer.status_code == 200
        return answer.text

    def peak(self) -> int:
        """The most memory the process has used so far, in kilobytes."""
        status = Path(f"/proc/{self.process.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0])

    def raw(self, head: bytes, chunks: Sequence[bytes], *, end: bool = False) -> bytes:
        """Send bytes as they are and return what comes back until the connection is closed."""
        port = self.client.base_url.port
        assert port is not None
        with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as connection:
            connection.sendall(HEAD + head + b"\r\n")
            for chunk in chunks:
                connection.sendall(chunk)
            if end:
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while received := connection.recv(65_536):
                answer += received
        return answer

    def sound(self) -> None:
        """See that the process serves on, and that nothing failed inside."""
        assert self.client.get("/readyz").status_code == 200
        log = self.process.log.read_text()
        assert "Traceback" not in log
        assert '"level": "error"' not in log


@pytest.fixture
def site(database: str, tmp_path: Path) -> Iterator[Site]:
    """A place for processes over a database of the test's own."""
    with site_over(database, tmp_path) as site:
        yield site


@pytest.fixture
def api(site: Site) -> Iterator[Api]:
    """The API as a process."""
    process = site.commands.start("api", "--port", "0")
    said = process.said("api started").splitlines()
    [url] = [record["url"] for record in map(json.loads, said) if record["event"] == "api started"]
    with httpx2.Client(base_url=url, timeout=20) as client:
        api = Api(process, client)
        yield api
        api.sound()


def work(site: Site) -> None:
    """Let a worker process do everything there is."""
    path = os.pathsep.join([str(APPS), *sys.path])
    worker = site.worker(app="endings:app", PYTHONPATH=path)
    site.finished()
    assert worker.stop() == 0


def test_large_integers_keep_their_digits_everywhere(site: Site, api: Api) -> None:
    """B168: through API, worker, result, events and command line come exactly the digits that were sent."""
    job_id = api.post(f'{{"type":"echo","payload":{DIGITS}}}').json()["job_id"]
    work(site)
    assert f'"payload":{DIGITS},"result":{DIGITS}' in api.text(f"/v1/jobs/{job_id}")
    history = api.text(f"/v1/jobs/{job_id}/events")
    assert (history.count(f'"payload":{DIGITS}'), history.count(f'"result":{DIGITS}')) == (1, 1)
    stored = site.ask("SELECT CAST(payload AS text), CAST(result AS text) FROM fencepost.jobs")
    assert stored == [(DIGITS, DIGITS)]
    for command in ("show", "history"):
        shown = site.commands.run("jobs", command, str(job_id)).stdout
        assert shown.count("9007199254740993") == shown.count("-9223372036854775809") >= 2


KEPT = {
    r'{"a":"\\u0000"}': r'{"a":"\\u0000"}',
    r'{"\\u0000":"\\ud800"}': r'{"\\u0000":"\\ud800"}',
    r'{"a":"\ud83d\ude00"}': '{"a":"😀"}',
    '{"a":"😀"}': '{"a":"😀"}',
}
REFUSED = (
    r'{"a":"x\u0000y"}',
    r'{"x\u0000":1}',
    r'{"a":"\ud800"}',
    r'{"\udc00":1}',
    *('{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":1e400}'),
)


def test_text_that_only_looks_dangerous_is_kept(api: Api) -> None:
    """B164, B165: an escaped backslash before u0000 comes back byte for byte, a surrogate pair as its character."""
    for sent, kept in KEPT.items():
        job_id = api.post(f'{{"type":"t","payload":{sent}}}').json()["job_id"]
        for path in (f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/events"):
            assert f'"payload":{kept}' in api.text(path)


def test_what_postgresql_would_refuse_is_refused_before(site: Site, api: Api) -> None:
    """B164, B165, B166: 400 at submit, edit and requeue alike, and nothing is stored."""
    waiting = api.post('{"type":"t","delay":3600}').json()["job_id"]
    for text in REFUSED:
        assert api.post(f'{{"type":"t","payload":{text}}}').status_code == 400
        change = f'{{"payload":{text}}}'
        for method, path in (("PATCH", ""), ("POST", "/requeue")):
            answer = api.client.request(method, f"/v1/jobs/{waiting}{path}", content=change, headers=JSON)
            assert answer.status_code == 400
    for body in (r'{"type":"t\u0000"}', r'{"type":"\ud800"}', r'{"type":"t","queue":"q\u0000"}'):
        assert api.post(body).status_code == 400
    assert api.raw(b"Idempotency-Key: a\x00\r\nContent-Length: 12\r\n", [b'{"type":"t"}']).startswith(
        b"HTTP/1.1 400"
    )
    assert site.ask("SELECT job_id FROM fencepost.job_events") == [(waiting,)]


def test_nesting_of_any_depth_is_refused_and_the_process_lives(site: Site, api: Api) -> None:
    """B170: 64 levels are stored and given back; 65 to 300,000, of lists or objects, are 4xx and cost no memory."""
    deepest = '{"a":' * 64 + "1" + "}" * 64
    job_id = api.post(f'{{"type":"echo","payload":{deepest}}}').json()["job_id"]
    assert f'"payload":{deepest}' in api.text(f"/v1/jobs/{job_id}")
    before = api.peak()
    for depth in (65, 1_000, 20_000, 100_000):
        for inside in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            for body in (
                inside,
                f'{{"type":"t","payload":{{"a":{inside}}}}}',
                f'{{"type":"t","unique":{inside}}}',
            ):
                assert api.post(body).status_code in (400, 422)
    assert api.post("[" * 300_000).status_code == 400
    assert api.peak() - before < GROWTH
    assert site.ask("SELECT count(*) FROM fencepost.jobs") == [(1,)]


def _chunked(body: bytes, size: int = 65_536) -> list[bytes]:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return [*(b"%x\r\n%b\r\n" % (len(part), part) for part in parts), b"0\r\n\r\n"]


TOO_LARGE: dict[str, tuple[bytes, list[bytes], int]] = {
    "announced": (b"Content-Length: %d\r\n" % len(TEN_MEGABYTES), [TEN_MEGABYTES], 413),
    "chunked": (b"Transfer-Encoding: chunked\r\n", _chunked(TEN_MEGABYTES), 413),
    "one chunk": (b"Transfer-Encoding: chunked\r\n", _chunked(TEN_MEGABYTES, 10_000_000), 413),
    "negative": (b"Content-Length: -1\r\n", [b"{}"], 400),
}


def test_a_body_that_is_too_large_costs_neither_time_nor_memory(api: Api) -> None:
    """B171: 413 or 400 within 2 s that the client gets to read, the connection closed, the process no larger."""
    before = api.peak()
    for head, chunks, status in TOO_LARGE.values():
        began = time.monotonic()
        answer = api.raw(head, chunks)
        assert time.monotonic() - began < 2
        assert answer.startswith(b"HTTP/1.1 %d" % status)
        assert b"connection: close" in answer.lower()
    assert api.peak() - before < GROWTH


def test_a_gzip_bomb_is_refused_unopened(api: Api) -> None:
    """B171: 500 MB in half a megabyte are 415, and the process is no larger than before."""
    bomb, before = gzip.compress(b" " * 500_000_000, 1), api.peak()
    answer = api.raw(b"Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(bomb), [bomb])
    assert answer.startswith(b"HTTP/1.1 415")
    assert api.peak() - before < GROWTH


def test_a_body_shorter_than_announced_is_no_job(site: Site, api: Api) -> None:
    """B171: the connection ends without a job."""
    api.raw(b"Content-Length: 100\r\n", [b'{"type":"t"}'], end=True)
    assert site.ask("SELECT count(*) FROM fencepost.jobs") == [(0,)]


def test_a_payload_that_is_no_object_is_refused(site: Site, api: Api) -> None:
    """B173: 422 naming the payload."""
    for payload in ("null", "5", '"x"', "[]", "true", "1.5"):
        answer = api.post(f'{{"type":"echo","payload":{payload}}}')
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/payload")
    assert site.ask("SELECT count(*) FROM fencepost.jobs") == [(0,)]


def test_an_empty_payload_and_none_are_the_same(site: Site, api: Api) -> None:
    """B173: {} and a missing payload are stored as {} and run with the handler's defaults."""
    ids = [api.post(body).json()["job_id"] for body in ('{"type":"echo","payload":{}}', '{"type":"echo"}')]
    work(site)
    found: list[dict[str, Any]] = [json.loads(api.text(f"/v1/jobs/{job_id}")) for job_id in ids]
    assert [(job["payload"], job["result"]) for job in found] == [({}, {"n": 0, "m": 0})] * 2
