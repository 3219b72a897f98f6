"""The API behind a bad network to its database."""

import httpx2
import pytest

from support.proxy import Proxy, Trouble


async def jobs(client: httpx2.AsyncClient) -> int:
    """How many jobs there are."""
    return len((await client.get("/v1/jobs")).json()["items"])


async def test_a_lost_reply_is_settled_by_the_key(far: httpx2.AsyncClient, proxy: Proxy) -> None:
    """B116: The reply to COMMIT is lost: the API says that it does not know; the same key then finds the one job."""
    headers = {"Idempotency-Key": "k"}
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    first = await far.post("/v1/jobs", json={"type": "t"}, headers=headers)
    assert proxy.struck.is_set()
    assert (first.status_code, first.json()["code"]) == (504, "outcome_unknown")
    again = await far.post("/v1/jobs", json={"type": "t"}, headers=headers)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert await jobs(far) == 1


async def test_without_a_key_nothing_is_repeated(far: httpx2.AsyncClient, proxy: Proxy) -> None:
    """B116: Without a key the caller hears that the outcome is unknown; the API does not insert twice by itself."""
    proxy.trouble("WITH given", Trouble.REPLY_LOST)
    answer = await far.post("/v1/jobs", json={"type": "t"})
    assert proxy.struck.is_set()
    assert (answer.status_code, answer.json()["code"]) == (504, "outcome_unknown")
    assert await jobs(far) == 1


async def test_a_cut_connection_is_replaced(far: httpx2.AsyncClient, proxy: Proxy) -> None:
    """Connections that break while idle cost the caller nothing."""
    assert (await far.post("/v1/jobs", json={"type": "t"})).status_code == 201
    proxy.cut()
    assert (await far.post("/v1/jobs", json={"type": "t"})).status_code == 201


async def test_a_database_that_is_away_is_said_to_be(far: httpx2.AsyncClient, proxy: Proxy) -> None:
    """With nobody listening the API lives, is not ready, and says that nothing was changed."""
    proxy.__exit__()
    for answer in (
        await far.post("/v1/jobs", json={"type": "t"}),
        await far.get("/v1/jobs/1"),
        await far.get("/readyz"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        assert answer.headers["retry-after"] == "2"
        assert "127.0.0.1" not in answer.text
    assert (await far.get("/livez")).is_success


async def test_readiness_does_not_wait_for_a_stalled_network(
    far: httpx2.AsyncClient, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that does not answer makes the process unready in time."""
    assert (await far.get("/readyz")).is_success
    monkeypatch.setattr("fencepost.entrypoints.api.health.ANSWER_SECONDS", 0.2)
    proxy.stall()
    assert (await far.get("/readyz")).status_code == 503
    proxy.flow()
