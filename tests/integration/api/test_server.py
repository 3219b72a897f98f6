"""The API behind a real server: bytes that are no request, bodies without end, and a stop in good order."""

import asyncio
import gzip
import json
import re
import resource
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from fencepost.application.ports.submitter import Submission, Submitted
from fencepost.entrypoints.api import bodies, server
from support.api import Memory, Served, replace, served, until

HEAD = b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
async def api(memory: Memory) -> AsyncIterator[Served]:
    """The API over memory behind a real server."""
    async with served(memory.container) as api:
        yield api


def parsed(answer: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the problem of a raw answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    return int(head.split(b" ", 2)[1]), json.loads(body)


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD + b"Content-Length: x\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        HEAD + b"Idempotency-Key: a\x00\r\n\r\n",
        HEAD + b"X: " + b"x" * 100_000,
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length : 2\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: " + b"x" * 200_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 200_000,
        b"GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /livez#part HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET /livez HTTP/0.9\r\nHost: localhost\r\n\r\n",
        b"GET /livez\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_bytes_that_are_no_request_get_a_problem(api: Served, request_: bytes) -> None:
    """B171: What is not proper HTTP gives 400 as a problem, too, and the connection is closed."""
    status, problem = parsed(await api.ask(request_))
    assert (status, problem["code"]) == (400, "invalid_request")


async def test_requests_on_one_connection_are_answered_in_order(api: Served) -> None:
    """Three requests sent at once get three answers, in their order; what is no request then ends the connection."""
    missing = LIVEZ.replace(b"/livez", b"/nothing")
    answers = await api.ask(LIVEZ + missing + LIVEZ + b"nonsense\r\n\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200", b"404", b"200"]


async def test_a_broken_body_does_not_take_the_place_of_an_earlier_answer(
    api: Served, memory: Memory
) -> None:
    """A request whose body breaks while another is being answered is dropped, and nothing of it is written."""
    broken = HEAD + b"Transfer-Encoding: chunked\r\n\r\nc\r\n" + b'{"type":"t"}\r\nnonsense\r\n'
    answers = await api.ask(LIVEZ + broken)
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200"]
    assert memory.database.jobs == {}


async def test_a_trailer_is_no_header(api: Served, memory: Memory) -> None:
    """What follows a chunked body can neither name a key nor a host: it is thrown away."""
    trailer = b"Idempotency-Key: k\r\nHost: evil.example\r\nX-Request-Id: late\r\n\r\n"
    job = HEAD + b"Transfer-Encoding: chunked\r\n\r\nc\r\n" + b'{"type":"t"}\r\n0\r\n' + trailer
    answers = await api.ask(job + job + b"\0")
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"201", b"201"]
    assert len(memory.database.jobs) == 2
    assert b"late" not in answers


async def test_an_upgrade_is_not_made(api: Served) -> None:
    """Whoever asks for another protocol is answered in this one, and the connection is closed."""
    asked = LIVEZ.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    answers = await api.ask(asked + LIVEZ)
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200"]


@pytest.mark.parametrize("host", [b"Host:localhost", b"Host: \t localhost \t "])
async def test_space_around_a_header_means_nothing(api: Served, host: bytes) -> None:
    """A value may be padded."""
    answer = await api.ask(b"GET /livez HTTP/1.1\r\n" + host + b"\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_a_body_shorter_than_announced_is_no_job(api: Served, memory: Memory) -> None:
    """B171: A body that ends early closes the connection, and nothing is written."""
    assert await api.ask(HEAD + b'Content-Length: 100\r\n\r\n{"type":"t"}', end=True) == b""
    assert memory.database.jobs == {}


async def test_a_body_that_does_not_come_is_not_waited_for(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that stalls is answered with 408 and the connection is closed."""
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.05)
    status, problem = parsed(await api.ask(HEAD + b"Content-Length: 100\r\n\r\n{"))
    assert (status, problem["code"]) == (408, "request_timeout")


async def test_a_client_that_asks_first_need_not_send(api: Served) -> None:
    """With Expect: 100-continue a body that is too large is refused before it is sent."""
    answer = await api.ask(HEAD + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
    assert parsed(answer)[0] == 413


async def _endless(chunks: int) -> AsyncIterator[bytes]:
    for _ in range(chunks):
        yield b" " * 65_536


@pytest.mark.parametrize("announced", [True, False])
async def test_a_large_body_costs_no_memory(api: Served, announced: bool) -> None:
    """B171: 10 MB give 413, are not kept, and the connection is closed; the client hears it all the same."""
    length = {"content-length": str(160 * 65_536)} if announced else {}
    headers = {"content-type": "application/json", **length}
    tracemalloc.start()
    try:
        async with api.client() as client:
            answer = await client.post("/v1/jobs", content=_endless(160), headers=headers)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert peak < 5_000_000


async def test_a_body_without_end_is_cut_off(api: Served) -> None:
    """B171: Beyond what is thrown away for politeness nothing more is taken in."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, writer = await asyncio.open_connection("127.0.0.1", api.port)
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    sent = await _sent(writer, chunk, 10_000)
    writer.close()
    assert sent < 2_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


async def _sent(writer: asyncio.StreamWriter, chunk: bytes, most: int) -> int:
    """Send until the other side has had enough, and return how many chunks that took."""
    for sent in range(most):
        try:
            writer.write(chunk)
            await writer.drain()
        except OSError:
            return sent
    return most


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent connection is closed soon."""
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.1)


@pytest.mark.usefixtures("impatient")
async def test_a_gzip_bomb_is_not_opened(memory: Memory) -> None:
    """B171: An encoded body that would become 100 MB is refused unread, and the connection is closed."""
    bomb = gzip.compress(b" " * 100_000_000)
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with served(memory.container) as api:
        assert parsed(await api.ask(head + bomb))[0] == 415
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("sent", "heard"), [(b"", b""), (LIVEZ[:20], b""), (LIVEZ, b"HTTP/1.1 200 OK")], ids=["0", "20", "all"]
)
async def test_a_connection_that_falls_silent_is_closed(memory: Memory, sent: bytes, heard: bytes) -> None:
    """Before, within and after a request: nobody holds a connection without saying anything."""
    async with served(memory.container) as api:
        assert (await api.ask(sent)).partition(b"\r\n")[0] == heard


@pytest.mark.parametrize("target", [b"/nothing", b"/v1/queues"])
async def test_a_body_that_was_answered_unread_is_cut_off(api: Served, target: bytes) -> None:
    """A body without end, sent to where none is read, is thrown away only so long."""
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    writer.write(HEAD.replace(b"/v1/jobs", target) + b"Transfer-Encoding: chunked\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 40")
    sent = await _sent(writer, b"10000\r\n" + b" " * 65_536 + b"\r\n", 10_000)
    writer.close()
    assert 400 < sent < 2_000


@pytest.mark.usefixtures("impatient")
async def test_after_an_unread_body_the_connection_goes_on(memory: Memory) -> None:
    """A body of 2 MB sent to where none is read does not spoil the next request of the connection."""
    async with served(memory.container) as api:
        wasted = (
            HEAD.replace(b"/v1/jobs", b"/nothing") + b"Content-Length: 2000000\r\n\r\n" + b" " * 2_000_000
        )
        answers = await api.ask(wasted + LIVEZ)
    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"404", b"200"]


async def test_an_answer_does_not_wait_for_an_acknowledgement(api: Served) -> None:
    """On a connection that is kept open, the quickest of ten answers comes sooner than a delayed ACK of 40 ms."""
    loop, took = asyncio.get_running_loop(), []
    async with api.client() as client:
        for _ in range(11):
            began = loop.time()
            assert (await client.get("/livez")).is_success
            took.append(loop.time() - began)
    assert min(took[1:]) < 0.035


class Held:
    """A submitter that waits until it is let go."""

    def __init__(self) -> None:
        self.called, self.let_go = asyncio.Event(), asyncio.Event()

    async def submit(self, submissions: list[Submission]) -> list[Submitted]:
        self.called.set()
        await self.let_go.wait()
        return [Submitted(7) for _ in submissions]


async def test_a_stop_lets_requests_end(memory: Memory) -> None:
    """After a stop is asked for nobody new is let in, the request under way is answered, then serving ends."""
    held = Held()
    replace(memory.container, "submitter", held)
    async with served(memory.container) as api, api.client() as client:
        under_way = asyncio.create_task(client.post("/v1/jobs", json={"type": "t"}))
        await held.called.wait()
        api.requests.ask()
        await until(lambda: not _listening(api))
        with pytest.raises(httpx2.ConnectError):
            async with api.client() as late:
                await late.get("/livez")
        assert not api.task.done()
        held.let_go.set()
        answer = await under_way
        assert (answer.status_code, answer.json()["job_id"]) == (201, 7)
        await asyncio.wait_for(api.task, 5)


def _listening(api: Served) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", api.port)) == 0


async def test_a_second_stop_does_not_wait(memory: Memory) -> None:
    """Asked twice, the server leaves although a request is still under way."""
    held = Held()
    replace(memory.container, "submitter", held)
    async with served(memory.container) as api, api.client() as client:
        under_way = asyncio.create_task(client.post("/v1/jobs", json={"type": "t"}))
        await held.called.wait()
        api.requests.ask()
        api.requests.ask()
        await asyncio.wait_for(api.task, 5)
        under_way.cancel()


async def test_an_idle_connection_does_not_hold_a_stop(memory: Memory) -> None:
    """A client that keeps its connection open is let go at once."""
    async with served(memory.container) as api, api.client() as client:
        assert (await client.get("/livez")).is_success
        api.requests.ask()
        await asyncio.wait_for(api.task, 5)
