"""A schema for one run: made, migrated, and dropped however the run ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from attrs import frozen

from ...adapters.postgres.benching import place
from ...adapters.postgres.benching.server import TIMEOUTS
from ...adapters.postgres.connector import Connector
from ...adapters.postgres.errors import translated
from ...adapters.postgres.migrations import migrate
from ...domain.errors import FencepostError, Unavailable
from .conditions import CannotMeasure

DROPPED_WITHIN = 20.0
"""Seconds in which to drop a schema, a server that restarts included."""
AGAIN_AFTER = 0.5
UNSUPPORTED = "unsupported startup parameter"

Connection = psycopg.AsyncConnection[Any]
Tell = Callable[[str], None]


class SchemaLeft(FencepostError):
    """The schema could not be dropped; the message has the command that does it."""


@frozen
class Place:
    """``connection`` is free for questions; while it lives the schema counts as in use."""

    dsn: str
    schema: str
    connection: Connection


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Connection]:
    """Yield a connection; raises Unavailable, CannotMeasure behind a pooler that refuses it."""
    try:
        connection = await Connector(dsn, "fencepost bench", TIMEOUTS).connect()
    except Unavailable as error:
        if UNSUPPORTED in str(error):
            raise CannotMeasure(f"a pooler is in between: name the server itself ({error})") from error
        raise
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def schema_for_a_while(dsn: str, connection: Connection, tell: Tell) -> AsyncIterator[Place]:
    """Make and migrate a schema, and drop it; what cannot be dropped is told, with the command that does it.

    Raises SchemaLeft when nothing else went wrong.
    """
    schema, keeper = place.new_name(), await place.has_keeper(connection)
    try:
        with _translated():
            await place.make(connection, schema)
        await _to_its_end(migrate, dsn, schema)
        yield Place(dsn, schema, connection)
    except BaseException:
        try:
            await _dropped(dsn, schema, keeper, tell)
        except BaseException as error:  # noqa: BLE001 - what led here is raised
            tell(f"error: {_left(schema, error)}")
        raise
    try:
        await _dropped(dsn, schema, keeper, tell)
    except FencepostError as error:
        raise SchemaLeft(_left(schema, error)) from error
    except BaseException as error:
        tell(f"error: {_left(schema, error)}")
        raise


async def cleaned(dsn: str) -> tuple[Sequence[str], Sequence[str]]:
    """Drop what killed runs left behind; returns the names of the dropped, and of those that could not be."""
    dropped, kept = [], []
    async with connected(dsn) as connection:
        for schema in await place.leftovers(connection):
            try:
                await place.drop(connection, schema)
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.LockNotAvailable):
                kept.append(schema)
            else:
                dropped.append(schema)
    return dropped, kept


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, in_doubt=False) from error


async def _to_its_end(function: Callable[[str, str], None], dsn: str, schema: str) -> None:
    """Run it in a thread, and leave it only when it has ended: it must not make anything after the cleaning."""
    running = asyncio.ensure_future(asyncio.to_thread(function, dsn, schema))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise


async def _dropped(dsn: str, schema: str, keeper: bool, tell: Tell) -> None:
    """Drop the schema, and the role if it was not there before; tries again while the database is away."""
    try:
        async with asyncio.timeout(DROPPED_WITHIN):
            if not await _tried(dsn, schema, keeper):
                tell(f"the schema cannot be dropped now: trying for {DROPPED_WITHIN:g} s, or until Ctrl-C")
                while not await _tried(dsn, schema, keeper):  # noqa: ASYNC110 - a server comes back
                    await asyncio.sleep(AGAIN_AFTER)
    except TimeoutError as error:
        raise Unavailable(f"tried for {DROPPED_WITHIN:g} s") from error


async def _tried(dsn: str, schema: str, keeper: bool) -> bool:
    try:
        async with connected(dsn) as connection:
            with _translated():
                await place.drop(connection, schema)
                if not keeper:
                    await place.drop_keeper(connection)
    except Unavailable:
        return False
    return True


def _left(schema: str, error: BaseException) -> str:
    why = " ".join(str(error).split()) or type(error).__name__
    return (
        f"schema {schema} is left behind ({why}); drop it with `fencepost bench --clean`, "
        f"or in psql: DROP SCHEMA {schema} CASCADE"
    )
