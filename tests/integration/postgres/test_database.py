"""What trouble with the server means to callers: nothing changed, nobody knows, or the values cannot be stored."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import ARRAY, BigInteger, bindparam, func, select, text

from fencepost.adapters.postgres.connector import Timeouts
from fencepost.adapters.postgres.database import Database
from fencepost.adapters.postgres.errors import SyncWaitCancelled, Unstorable
from fencepost.adapters.postgres.query import Plan, Query, Rows, Statement
from fencepost.adapters.postgres.sync_database import SyncDatabase
from fencepost.domain.errors import TooSlow, Unavailable, UnknownOutcome
from fencepost.domain.vocabulary import Verdict
from support.polling import eventually
from support.proxy import Proxy, Trouble
from support.rig import Rig, rig_over, submission, success

DIE = text("SELECT pg_terminate_backend(pg_backend_pid())")
PID = Statement(text("SELECT pg_backend_pid()"))
NOTE = Statement(
    text("INSERT INTO fencepost.queues (name) VALUES (:name) RETURNING name").bindparams(name="noted"),
    writes=True,
)
WARN = """
CREATE FUNCTION public.warn() RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE WARNING USING MESSAGE = ''sync''; END'
"""


def single(query: Query) -> Plan[Rows]:
    """A plan of one statement."""
    return (yield query)


@pytest.fixture
async def database(emptied: str) -> AsyncIterator[Database]:
    """Connections to an empty schema."""
    database = Database(emptied)
    yield database
    await database.close()


async def test_a_read_whose_connection_dies_is_repeated(rig: Rig, database: Database) -> None:
    """A session that the server ended while it was idle is replaced without a word."""
    [[pid]] = await database.execute(PID())
    await rig.ask("SELECT pg_terminate_backend(%s, 5000)", pid)
    [[other]] = await database.execute(PID())
    assert other != pid


async def test_a_write_that_dies_in_flight_is_unknown(database: Database) -> None:
    """The server ended the session during a statement that may have committed."""
    with pytest.raises(UnknownOutcome):
        await database.execute(Statement(DIE, writes=True)())
    assert await database.execute(NOTE())


async def test_a_transaction_that_dies_before_commit_changed_nothing(database: Database) -> None:
    """However often it was tried."""

    def plan() -> Plan[None]:
        yield NOTE()
        yield Statement(DIE)()

    with pytest.raises(Unavailable):
        await database.run(plan)
    assert await database.execute(Statement(text("SELECT FROM fencepost.queues"))()) == []


async def test_a_lost_reply_to_commit_is_unknown(far_rig: Rig, proxy: Proxy) -> None:
    """The change is there, and only the database knows."""
    proxy.trouble("COMMIT", Trouble.REPLY_LOST)
    with pytest.raises(UnknownOutcome):
        await far_rig.database.run(lambda: single(NOTE()))
    proxy.cut()
    assert len(await far_rig.database.execute(Statement(text("SELECT FROM fencepost.queues"))())) == 1


async def test_a_report_whose_reply_is_lost_is_already_applied_when_repeated(
    rig: Rig, far_rig: Rig, proxy: Proxy
) -> None:
    """B117: The worker asks again and learns that its answer was the first."""
    token = await rig.claimed()
    proxy.trouble("WITH held", Trouble.REPLY_LOST)
    with pytest.raises(UnknownOutcome):
        await far_rig.jobs.report([success(token)()])
    proxy.cut()
    assert await far_rig.jobs.report([success(token)()]) == [Verdict.ALREADY_APPLIED]


async def test_a_claim_whose_reply_is_lost_is_found_by_its_id(rig: Rig, far_rig: Rig, proxy: Proxy) -> None:
    """What an unknown claim turned out to be can be asked."""
    await rig.queues.register(["default"])
    await rig.submit(submission())
    proxy.trouble("WITH open_queue", Trouble.REPLY_LOST)
    with pytest.raises(UnknownOutcome):
        await far_rig.claim()
    job = await rig.job(1)
    assert job.claim_id is not None
    assert [found.token for found in await rig.jobs.claimed_by(job.claim_id)] == [job.token]
    assert await rig.jobs.claimed_by("no id of ours") == ()


async def test_a_commit_with_a_warning_is_unknown(rig: Rig, database: Database) -> None:
    """A standby did not confirm it: a failover may forget it."""
    await rig.ask(WARN)
    try:
        with pytest.raises(SyncWaitCancelled):
            await database.execute(Statement(text("SELECT public.warn()"), writes=True)())
    finally:
        await rig.ask("DROP FUNCTION public.warn")


async def test_a_server_that_is_away_is_unavailable_and_used_again_when_it_is_back(
    far_rig: Rig, proxy: Proxy
) -> None:
    """An outage ends nobody; it raises until it is over."""
    assert await far_rig.count() == 0
    proxy.stall()
    impatient = Database(proxy.dsn, timeouts=Timeouts(statement=timedelta(milliseconds=1)))
    with pytest.raises(Unavailable):
        await impatient.execute(PID())
    proxy.flow()
    await impatient.close()
    assert await far_rig.count() == 0


async def test_a_slow_statement_is_unavailable(emptied: str) -> None:
    """It is the server that gives up, long before a lease is over."""
    database = Database(emptied, timeouts=Timeouts(statement=timedelta(milliseconds=50)))
    with pytest.raises(TooSlow, match="statement timeout"):
        await database.execute(Statement(text("SELECT pg_sleep(60)"), writes=True)())
    await database.close()


async def test_a_lock_that_does_not_come_is_unavailable(emptied: str) -> None:
    """Waiting for rows has a bound of its own."""
    database = Database(emptied, timeouts=Timeouts(lock=timedelta(milliseconds=50)))
    async with await psycopg.AsyncConnection.connect(emptied) as other:
        await other.execute("LOCK TABLE fencepost.queues")
        with pytest.raises(Unavailable, match="lock timeout"):
            await database.execute(NOTE())
    await database.close()


async def test_values_that_cannot_be_stored_are_the_callers_affair(database: Database) -> None:
    """A batch may be split until the culprit is alone."""
    say = Statement(text("SELECT CAST(:words AS text)"))
    count = Statement(select(func.unnest(bindparam("numbers", type_=ARRAY(BigInteger)))))
    for query in (say(words="\0"), say(words="\ud800"), count(numbers=[2**70])):
        with pytest.raises(Unstorable):
            await database.execute(query)
    assert await database.execute(count(numbers=[2**40, 1])) == [(2**40,), (1,)]


async def test_deadlocks_are_run_again(rig: Rig, database: Database) -> None:
    """The server rolls one of two plans back; the caller does not notice."""
    await rig.queues.register(["a", "b"])
    lock = Statement(text("SELECT FROM fencepost.queues WHERE name = :name FOR UPDATE"))
    pause = Statement(text("SELECT pg_sleep(0.1)"))

    def plan(first: str, second: str) -> Plan[None]:
        yield lock(name=first)
        yield pause()
        yield lock(name=second)

    await asyncio.gather(database.run(lambda: plan("a", "b")), database.run(lambda: plan("b", "a")))


@pytest.fixture
def awkward(emptied: str) -> Iterator[str]:
    """The address for a role whose defaults are hostile."""
    name = f"awkward_{secrets.token_hex(4)}"
    defaults = {
        "default_transaction_isolation": "serializable",
        "statement_timeout": "'1ms'",
        "lock_timeout": "'1ms'",
        "search_path": "''",
        "synchronous_commit": "off",
        "TimeZone": "'Asia/Kathmandu'",
        "IntervalStyle": "iso_8601",
    }
    with psycopg.connect(emptied, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN SUPERUSER PASSWORD 'a'".encode())
        for setting, value in defaults.items():
            connection.execute(f"ALTER ROLE {name} SET {setting} = {value}".encode())
        yield make_conninfo(emptied, user=name, password="a")
        eventually(
            lambda: not connection.execute("SELECT FROM pg_stat_activity WHERE usename = %s", [name]).rowcount
        )
        connection.execute(f"DROP ROLE {name}".encode())


async def test_a_roles_hostile_defaults_change_nothing(awkward: str) -> None:
    """B107, B119, B204: We set what we rely on, and lift durability to what an acknowledgement promises."""
    async with rig_over(awkward) as rig:
        token = await rig.claimed()
        assert await rig.jobs.report([success(token)()]) == [Verdict.ACCEPTED]
        names = ("transaction_isolation", "synchronous_commit", "timezone", "statement_timeout")
        settings = Statement(text(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}"))
        assert [list(row) for row in await rig.database.execute(settings())] == [
            ["read committed", "on", "UTC", "7500ms"]
        ]


async def test_behind_a_pooler_nothing_is_left_in_the_session(awkward: str) -> None:
    """B111: Whatever the pooler's sessions have as defaults, each transaction brings its own settings."""
    database = Database(awkward, pooled=True)
    ask = Statement(
        text("SELECT current_setting('transaction_isolation'), clock_timestamp(), interval '36 h'")
    )
    [[isolation, clock, interval]] = await database.execute(ask())
    assert (isolation, clock.utcoffset(), interval) == ("read committed", timedelta(0), timedelta(hours=36))
    await database.close()


async def test_a_standby_is_unavailable_until_it_is_promoted(rig: Rig, awkward: str) -> None:
    """B121: new sessions are read-only for a while; the same object works again afterwards."""
    name = conninfo_to_dict(awkward)["user"]
    await rig.ask(f"ALTER ROLE {name} SET default_transaction_read_only = on")
    database = Database(awkward)
    with pytest.raises(Unavailable, match="read-only"):
        await database.execute(NOTE())
    await rig.ask(f"ALTER ROLE {name} RESET default_transaction_read_only")
    assert await database.execute(NOTE())
    await database.close()


def test_the_same_plans_run_without_an_event_loop(emptied: str) -> None:
    """A thread's database commits, and a failing plan leaves nothing."""
    database = SyncDatabase(emptied)
    assert list(database.run(lambda: single(NOTE()))) == [("noted",)]
    with pytest.raises(psycopg.errors.UniqueViolation):
        database.run(lambda: single(NOTE()))
    [[pid]] = database.run(lambda: single(PID()))
    with psycopg.connect(emptied) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert database.run(lambda: single(PID())) != [(pid,)]
    database.close()
