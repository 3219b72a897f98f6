"""What a server is, as far as figures depend on it."""

import statistics
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import psycopg
from attrs import frozen
from psycopg.rows import dict_row

from ..connector import Timeouts

TIMEOUTS = Timeouts(statement=timedelta(seconds=61), lock=timedelta(seconds=5))
OLDEST = 150_000
ROUNDS, ROUNDS_WITHIN = 100, 1.0

# The session's own synchronous_commit has been raised by the connector: what it would be otherwise is asked for.
_FACTS = """
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
    current_user::text AS role, current_database()::text AS database,
    has_database_privilege(current_database(), 'CREATE') AS may_create,
    current_setting('transaction_read_only') = 'on' AS read_only,
    (SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
    (SELECT jsonb_object_agg(name, reset_val) FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')) AS durability
"""


@frozen(kw_only=True)
class Server:
    """``durability`` has the settings that decide it; ``round_trip`` is the median of a hundred, in milliseconds."""

    version: str
    number: int
    role: str
    database: str
    may_create: bool
    read_only: bool
    heeds_options: bool
    """Whether settings given to a connection arrive: some poolers swallow them."""
    durability: Mapping[str, str]
    round_trip: float

    @property
    def loose(self) -> tuple[str, ...]:
        """The settings because of which the server may lose what it has confirmed."""
        return tuple(name for name in ("fsync", "full_page_writes") if self.durability.get(name) == "off")


async def look(connection: psycopg.AsyncConnection[Any]) -> Server:
    """Ask a connection that was opened with ``TIMEOUTS``."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        facts = await (await cursor.execute(_FACTS)).fetchone()
    assert facts is not None
    timeout = facts.pop("statement_timeout")
    heeds = timeout == TIMEOUTS.statement // timedelta(milliseconds=1)
    return Server(**facts, heeds_options=heeds, round_trip=await _round_trip(connection))


async def _round_trip(connection: psycopg.AsyncConnection[Any]) -> float:
    spans: list[float] = []
    end = time.perf_counter() + ROUNDS_WITHIN
    while len(spans) < ROUNDS and time.perf_counter() < end:
        began = time.perf_counter()
        await connection.execute("SELECT 1")
        spans.append((time.perf_counter() - began) * 1_000)
    return statistics.median(spans)
