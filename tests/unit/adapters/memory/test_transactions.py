"""``ctx.transaction()`` in memory: a handler's writes and its job's success, together or not at all."""

from datetime import timedelta

import pytest

from fencepost.adapters.memory.database import MemoryDatabase
from fencepost.adapters.memory.job_store import MemoryJobStore
from fencepost.adapters.memory.queue_store import MemoryQueueStore
from fencepost.adapters.memory.submitter import MemorySubmitter
from fencepost.adapters.memory.transactions import MemoryTransactions
from fencepost.application.ports.job_store import ClaimRequest
from fencepost.domain import commands as c
from fencepost.domain.errors import LeaseLost, Unavailable
from fencepost.domain.token import Token
from fencepost.domain.vocabulary import State
from support.asking import submission
from support.crowd import WORKER
from support.stores import Clock


@pytest.fixture
def clock() -> Clock:
    """The database's clock."""
    return Clock()


@pytest.fixture
def database(clock: Clock) -> MemoryDatabase:
    """An empty database."""
    return MemoryDatabase(clock)


@pytest.fixture
async def token(database: MemoryDatabase) -> Token:
    """The lease of the only job."""
    await MemoryQueueStore(database).register(["default"])
    await MemorySubmitter(database).submit([submission()])
    request = ClaimRequest(queue="default", types=frozenset({"t"}), limit=1, claim_id="claim", origin=WORKER)
    return (await MemoryJobStore(database).claim(request)).jobs[0].token


def _success(token: Token) -> c.Succeed:
    return c.Succeed(origin=WORKER, token=token, result="1")


async def test_writes_are_kept_with_the_success(database: MemoryDatabase, token: Token) -> None:
    """After the block the job has succeeded and the writes are there."""
    async with MemoryTransactions(database).open(lambda: _success(token)) as writes:
        writes.append("paid")
        assert database.writes == []
    assert database.writes == ["paid"]
    assert database.jobs[token.job_id].state is State.SUCCEEDED


async def test_a_lost_lease_rolls_the_writes_back(
    database: MemoryDatabase, token: Token, clock: Clock
) -> None:
    """The zombie's writes vanish and it is told so."""

    async def handle() -> None:
        async with MemoryTransactions(database).open(lambda: _success(token)) as writes:
            writes.append("paid")
            clock.advance(timedelta(seconds=31))
            await MemoryJobStore(database).reap(1, [0.0])

    with pytest.raises(LeaseLost, match="attempt 1 no longer holds job 1"):
        await handle()
    assert database.writes == []


async def test_a_handlers_error_rolls_the_writes_back_and_reports_nothing(
    database: MemoryDatabase, token: Token
) -> None:
    """What the handler raises reaches its caller; the job is still running."""
    with pytest.raises(ZeroDivisionError):
        async with MemoryTransactions(database).open(lambda: _success(token)) as writes:
            writes.append(1 / 0)
    assert database.writes == []
    assert database.jobs[token.job_id].state is State.RUNNING


def test_a_thread_uses_the_same_promise(database: MemoryDatabase, token: Token) -> None:
    """The synchronous twin commits alike, and only once."""
    transactions = MemoryTransactions(database)
    with transactions.open_sync(lambda: _success(token)) as writes:
        writes.append("paid")
    with pytest.raises(LeaseLost), transactions.open_sync(lambda: _success(token)) as writes:
        writes.append("paid again")
    assert database.writes == ["paid"]


def test_a_locked_row_keeps_nothing(database: MemoryDatabase, token: Token) -> None:
    """Where PostgreSQL would give up waiting, nothing is written and the job is still held."""
    with (
        database.locked(token.job_id),
        pytest.raises(Unavailable, match="stayed locked"),
        MemoryTransactions(database).open_sync(lambda: _success(token)) as writes,
    ):
        writes.append("paid")
    assert database.writes == []
    assert database.jobs[token.job_id].state is State.RUNNING
