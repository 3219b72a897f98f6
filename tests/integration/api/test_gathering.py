"""Submits of many clients share statements: what each hears is true, and what was accepted is there."""

import asyncio
from typing import Any

import httpx2
import psycopg
import pytest

from fencepost.entrypoints.container import closed
from support.api import in_process, postgres_container, served
from support.polling import eventually
from support.proxy import Proxy, Trouble

CLIENTS = 40
TRIGGER = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = TG_ARGV[0]; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON fencepost.jobs FOR EACH ROW
WHEN (NEW.type = 'bad') EXECUTE FUNCTION refuse('{state}')
"""


@pytest.fixture
def client(far: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """A client of the API over PostgreSQL."""
    return far


async def submitted(client: httpx2.AsyncClient, *jobs: dict[str, Any]) -> list[httpx2.Response]:
    """Submit each as a client of its own, all at the same time."""
    return await asyncio.gather(*(client.post("/v1/jobs", json=job) for job in jobs))


def stored(dsn: str) -> list[tuple[int, int, str]]:
    """Every job with its ``enqueued`` event: its id, the number in its payload, and its transaction."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(
            "SELECT job_id, (j.payload ->> 'n')::int, j.xmin::text FROM fencepost.jobs AS j "
            "JOIN fencepost.job_events AS e USING (job_id) WHERE e.name = 'enqueued' AND e.seq = 1 "
            "ORDER BY job_id"
        ).fetchall()


async def test_submits_of_one_moment_share_transactions(client: httpx2.AsyncClient, emptied: str) -> None:
    """Forty clients need a few transactions, and each is told the id of its own job."""
    jobs = [{"type": "t", "payload": {"n": number}} for number in range(CLIENTS)]
    answers = await submitted(client, *jobs)
    assert {answer.status_code for answer in answers} == {201}
    rows = stored(emptied)
    assert {number: job_id for job_id, number, _ in rows} == {
        number: answer.json()["job_id"] for number, answer in enumerate(answers)
    }
    assert len({transaction for _, _, transaction in rows}) < CLIENTS / 4


async def test_every_event_says_whose_request_it_was(client: httpx2.AsyncClient) -> None:
    """Jobs of one statement keep their own request ids."""
    named = [
        client.post("/v1/jobs", json={"type": "t"}, headers={"X-Request-Id": f"r{n}"}) for n in range(10)
    ]
    for number, answer in enumerate(await asyncio.gather(*named)):
        [event] = (await client.get(f"{answer.headers['location']}/events")).json()["events"]
        assert event["request_id"] == f"r{number}"


async def test_keyed_submits_have_transactions_of_their_own(client: httpx2.AsyncClient, emptied: str) -> None:
    """A submit that may wait for its key, or for unique options, is never in the transaction of another."""
    plain = [client.post("/v1/jobs", json={"type": "t", "payload": {"n": n}}) for n in range(10)]
    keyed = [
        client.post("/v1/jobs", json={"type": "t", "payload": {"n": n}}, headers={"Idempotency-Key": str(n)})
        for n in range(10, 15)
    ]
    unique = [
        client.post("/v1/jobs", json={"type": "t", "payload": {"n": n}, "unique": True})
        for n in range(15, 20)
    ]
    answers = await asyncio.gather(*plain, *keyed, *unique)
    assert {answer.status_code for answer in answers} == {201}
    transactions = {number: transaction for _, number, transaction in stored(emptied)}
    others = [transactions[number] for number in range(10, 20)]
    assert len(set(others)) == 10
    assert not set(others) & {transactions[number] for number in range(10)}


@pytest.mark.parametrize(("state", "status"), [("22023", 422), ("P0001", 500)])
async def test_a_job_the_database_refuses_fails_alone(database: str, state: str, status: int) -> None:
    """Whether its values are to blame or a trigger of the user's, those beside it are accepted, each once."""
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(TRIGGER.format(state=state))
    jobs = [{"type": "bad" if n in (3, 4, 9) else "t", "payload": {"n": n}} for n in range(12)]
    container = postgres_container(database)
    async with in_process(container, timeout=30) as client:
        answers = await submitted(client, *jobs)
    await closed(container)
    expected = [status if n in (3, 4, 9) else 201 for n in range(12)]
    assert [answer.status_code for answer in answers] == expected
    assert sorted(number for _, number, _ in stored(database)) == [0, 1, 2, 5, 6, 7, 8, 10, 11]


async def test_a_lost_reply_is_unknown_to_each_of_its_batch(
    client: httpx2.AsyncClient, proxy: Proxy, emptied: str
) -> None:
    """B116: Nothing is sent twice: those whose statement got no answer hear so, and no job is there twice."""
    proxy.trouble("WITH given", Trouble.REPLY_LOST)
    jobs = [{"type": "t", "payload": {"n": number}} for number in range(CLIENTS)]
    answers = await submitted(client, *jobs)
    unknown = {number for number, answer in enumerate(answers) if answer.status_code == 504}
    assert len(unknown) > 1
    assert {answer.status_code for answer in answers} <= {201, 504}
    assert [number for _, number, _ in stored(emptied)] == list(range(CLIENTS))


async def test_a_client_that_leaves_takes_nobody_along(emptied: str) -> None:
    """Clients that close their connection in the middle leave the rest of their batch as it is."""
    container = postgres_container(emptied)
    async with served(container) as api, api.client(timeout=30) as client:
        with psycopg.connect(emptied) as holder:
            holder.execute("LOCK TABLE fencepost.jobs IN ACCESS EXCLUSIVE MODE")
            writers = [await _begun(api.port) for _ in range(5)]
            staying = [asyncio.create_task(client.post("/v1/jobs", json={"type": "t"})) for _ in range(5)]
            await asyncio.to_thread(_held_up, emptied)
            for writer in writers:
                writer.transport.abort()
        assert {(await answer).status_code for answer in staying} == {201}
    await closed(container)


async def _begun(port: int) -> asyncio.StreamWriter:
    """Send a submit and wait for no answer."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f'{head}Content-Length: 12\r\n\r\n{{"type":"t"}}'.encode())
    await writer.drain()
    return writer


def _held_up(dsn: str) -> None:
    """Wait until a submit waits for the table."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(dsn, autocommit=True) as observer:
        assert eventually(lambda: observer.execute(waiting).fetchone() != (0,))
