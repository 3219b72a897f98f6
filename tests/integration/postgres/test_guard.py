"""History is append-only, for everybody; two doors leave their trace."""

import json
import secrets
from collections.abc import Iterator

import psycopg
import pytest

from support.rig import USER, Rig, submission, success

CHANGES = (
    "UPDATE fencepost.job_events SET actor = 'nobody'",
    "DELETE FROM fencepost.job_events",
    "TRUNCATE fencepost.job_events",
    "UPDATE fencepost.control_events SET actor = 'nobody'",
    "DELETE FROM fencepost.control_events",
    "TRUNCATE fencepost.control_events",
)
ERASE = "SELECT fencepost.erase_payload(%s, 'user:eva', 'request-9', 'asked to')"
PRUNE = "SELECT fencepost.prune(%s, 'user:eva', 'request-9', 'old')"

TRIGGER = """
CREATE FUNCTION public.meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {does}; RETURN NEW; END $$;
CREATE TRIGGER zealous BEFORE UPDATE ON fencepost.{table} FOR EACH ROW EXECUTE FUNCTION public.meddle();
"""


@pytest.fixture
async def told(rig: Rig) -> Rig:
    """A database with a finished job and something in both event tables."""
    token = await rig.claimed()
    await rig.jobs.report([success(token)()])
    await rig.queues.pause("other", USER)
    return rig


@pytest.fixture
def application(emptied: str) -> Iterator[str]:
    """A plain role with all rights on rows."""
    name = f"application_{secrets.token_hex(4)}"
    with psycopg.connect(emptied, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name}".encode())
        connection.execute(f"GRANT USAGE ON SCHEMA fencepost TO {name}".encode())
        connection.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA fencepost TO {name}".encode()
        )
        yield name
        connection.execute(f"DROP OWNED BY {name}".encode())
        connection.execute(f"DROP ROLE {name}".encode())


def attempt(dsn: str, statement: str, before: str = "SELECT 1") -> None:
    """Run a statement as the tables' owner, after another."""
    with psycopg.connect(dsn) as connection:
        connection.execute(before.encode())
        connection.execute(statement.encode())


@pytest.mark.parametrize("change", CHANGES)
async def test_nobody_changes_history(told: Rig, application: str, change: str) -> None:
    """The owner is refused, a plain role is, and a session that skips ordinary triggers is."""
    for before in ("SELECT 1", f"SET ROLE {application}", "SET session_replication_role = replica"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            attempt(told.dsn, change, before)


async def test_even_the_keeper_only_erases_and_prunes(told: Rig) -> None:
    """Its role opens no third door."""
    for change in (CHANGES[0].replace("actor = 'nobody'", "payload = '{}'"), *CHANGES[2:]):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            attempt(told.dsn, change, "SET ROLE fencepost_keeper")


@pytest.mark.parametrize(
    "does", ["DELETE FROM fencepost.job_events", "UPDATE fencepost.job_events SET payload = NULL"]
)
async def test_a_trigger_on_jobs_does_not_slip_through_a_door(told: Rig, does: str) -> None:
    """It runs with the keeper's rights while a door is used, and is refused all the same."""
    await told.submit(submission())
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        attempt(told.dsn, ERASE % 1, TRIGGER.format(table="jobs", does=f"{does} WHERE job_id = 2"))


@pytest.mark.parametrize("does", ["NEW.actor := 'nobody'", "NEW.payload := '{}'"])
async def test_a_trigger_on_events_cannot_change_what_a_door_writes(told: Rig, does: str) -> None:
    """One that comes after the first look is found out by the second."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        attempt(told.dsn, ERASE % 1, TRIGGER.format(table="job_events", does=does))


async def test_erasing_leaves_the_digest_and_a_trace(told: Rig) -> None:
    """Payload and result are gone from row and history; who erased, and why, is in the log."""
    digests = [event.data.get("payload_digest") for event in await told.log.history(1)]
    assert await told.ask(ERASE, 1) == [(True,)]
    job, history = await told.job(1), await told.log.history(1)
    assert (job.payload, job.result) == (None, None)
    assert {(event.payload, event.result) for event in history} == {(None, None)}
    assert [event.data.get("payload_digest") for event in history] == digests
    [trace] = await told.log.evidence(1)
    assert (trace.name, trace.actor, trace.request_id, trace.reason) == (
        "payload_erased",
        "user:eva",
        "request-9",
        "asked to",
    )


async def test_erasing_what_is_not_there_says_so(told: Rig) -> None:
    """No job, no trace."""
    assert await told.ask(ERASE, 99) == [(False,)]
    assert await told.log.evidence(99) == []


async def test_pruning_removes_finished_jobs_whole_and_leaves_a_tombstone(told: Rig) -> None:
    """A job that is not finished stays, and so does everything about it."""
    await told.submit(submission())
    assert await told.ask(PRUNE, [2, 1, 99]) == [([1],)]
    assert await told.reader.get(1) is None
    assert await told.log.history(1) == []
    assert len(await told.log.history(2)) == 1
    [(subject, data)] = await told.ask(
        "SELECT subject, data::text FROM fencepost.control_events WHERE name = 'jobs_pruned'"
    )
    assert (subject, json.loads(data)) == ("jobs", {"job_ids": [1]})


async def test_the_doors_are_closed_to_everybody_else(told: Rig, application: str) -> None:
    """Rights on rows are no right to erase or prune."""
    for door in (ERASE % 1, PRUNE % "'{1}'"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function"):
            attempt(told.dsn, door, f"SET ROLE {application}")
