"""Schemas for one measurement: marked as such, locked while their run lives, and found when it was killed."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql

PREFIX = "fencepost_bench_"
MARK = "made by `fencepost bench`, which drops it when it ends"
KEEPER = "fencepost_keeper"

# A session's lock ends with the session, however its process ends: a marked schema that nobody locks was left behind.
_LOCK = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
_LEFT = """
SELECT nspname FROM pg_namespace AS n
WHERE nspname ~ %s AND obj_description(n.oid, 'pg_namespace') = %s AND NOT EXISTS (
    SELECT FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objsubid = 1
        AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(nspname, 0))
ORDER BY nspname
"""
_STAY = "SELECT set_config('idle_session_timeout', '0', false)"
_KEEPER = "SELECT FROM pg_roles WHERE rolname = %s"

Connection = psycopg.AsyncConnection[Any]


def new_name() -> str:
    """Return a schema's name that nobody has."""
    return f"{PREFIX}{secrets.token_hex(4)}"


async def make(connection: Connection, name: str) -> None:
    """Make the schema; it counts as in use until the connection ends."""
    await connection.execute(_STAY)
    await connection.execute(_LOCK, [name])
    async with connection.transaction():
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        await connection.execute(
            sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(name), sql.Literal(MARK))
        )


async def drop(connection: Connection, name: str) -> None:
    """Drop the schema if it is there."""
    await connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))


async def leftovers(connection: Connection) -> Sequence[str]:
    """Return the schemas of runs that were killed."""
    found = await connection.execute(_LEFT, [f"^{PREFIX}[0-9a-f]{{8}}$", MARK])
    return [name for (name,) in await found.fetchall()]


async def has_keeper(connection: Connection) -> bool:
    """Tell whether the role is there that migrations make; it belongs to the whole server."""
    return await (await connection.execute(_KEEPER, [KEEPER])).fetchone() is not None


async def drop_keeper(connection: Connection) -> None:
    """Drop that role, unless another schema has come to need it."""
    with suppress(
        psycopg.errors.DependentObjectsStillExist,
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedObject,
    ):
        await connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(KEEPER)))
