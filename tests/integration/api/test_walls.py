"""What keeps strangers out of an API that knows no tokens yet."""

import socket

import httpx2
import pytest

from fencepost.domain.errors import InvalidInput
from fencepost.entrypoints.api.server import AddressTaken, listen, url_of
from support.api import Memory

JOB = {"type": "t"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8470", "localhost", "LocalHost:1", "127.8.8.8", "[::1]", "[::1]:8470"]
)
async def test_names_of_this_machine_are_served(client: httpx2.AsyncClient, host: str) -> None:
    """Every spelling of loopback is a proper Host."""
    assert (await client.get("/livez", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8470",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "10.0.0.1",
        "[::]",
        "[::1].evil.example",
        "::1:8470:1",
        "2130706433",
        "127.1",
        "user@127.0.0.1",
        "127.0.0.1:x",
        "",
        "é",
    ],
)
@pytest.mark.parametrize("path", ["/v1/jobs", "/livez", "/openapi.json", "/nothing"])
async def test_other_hosts_are_refused(client: httpx2.AsyncClient, host: str, path: str) -> None:
    """A name that somebody else may point at this machine gives 421 on every route."""
    answer = await client.get(path, headers=[(b"Host", host.encode())])
    assert (answer.status_code, answer.json()["code"]) == (421, "misdirected_request")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 201),
        ("https://127.0.0.1", 201),
        ("http://[::1]:8470", 201),
        ("https://evil.example", 403),
        ("http://127.0.0.1.evil.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[::1", 403),
        ("file://localhost/", 403),
    ],
)
async def test_pages_of_other_sites_cannot_write(
    client: httpx2.AsyncClient, memory: Memory, origin: str, status: int
) -> None:
    """A browser tells where a request comes from; only this machine's own pages may send one."""
    answer = await client.post("/v1/jobs", json=JOB, headers={"Origin": origin})
    assert answer.status_code == status
    assert len(memory.database.jobs) == (status == 201)


@pytest.mark.parametrize("given", [b"", b" ", b"a b", b"x" * 129, b"\xe9", b"a\tb"])
async def test_a_request_id_is_validated(client: httpx2.AsyncClient, given: bytes) -> None:
    """An id that could spoil a log is refused, and the answer has one that the API made."""
    answer = await client.post("/v1/jobs", json=JOB, headers=[(b"X-Request-Id", given)])
    assert (answer.status_code, answer.json()["errors"][0]["header"]) == (422, "X-Request-Id")
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com", "", "127.0.0.1.evil.example"])
def test_only_loopback_is_listened_on(host: str) -> None:
    """Another address is refused with a reason, whoever asks for it."""
    with pytest.raises(InvalidInput, match="api_host: must be a loopback address"):
        listen(host, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_taken_port_is_said_to_be(host: str) -> None:
    """Two processes cannot serve one port, and the second says why."""
    with listen(host, 0) as first, pytest.raises(AddressTaken, match="cannot listen on"):
        listen(host, first.getsockname()[1])


def test_the_url_of_an_ipv6_listener_can_be_used() -> None:
    """An IPv6 address stands in brackets."""
    try:
        listener = listen("::1", 0)
    except AddressTaken:
        pytest.skip("this machine has no IPv6")
    with listener:
        assert url_of(listener).startswith("http://[::1]:")
        assert listener.family is socket.AF_INET6
