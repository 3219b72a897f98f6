"""Opens connections that behave the same whatever the role, the database or the server have as defaults."""

import re
from datetime import timedelta
from typing import Any

import psycopg
from attrs import field, frozen
from psycopg.conninfo import conninfo_to_dict

from ...domain.errors import Unavailable

CONNECT_SECONDS = 3
_NO_DATABASE = re.compile(r'database "[^"]*" does not exist')
"""Words of the server's: it sends no code for a connection that it refuses."""
PREPARE_THRESHOLD = 2
"""Uses of a statement before it is prepared: everything but one-off reads."""
NETWORK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}
"""Keepalives find a lost link while waiting for an answer, the user timeout while sending: both are needed."""

# A plan made while a table was small, or its statistics old, would be kept when the table has grown: every statement
# of ours has an index to walk, in order, and stops early. Where there is none, a scan is made all the same.
_INDEXED = {"enable_seqscan": "off", "enable_bitmapscan": "off"}
_PLANNED_ONCE = {"plan_cache_mode": "force_generic_plan"}

# Raises durability to what an acknowledgement promises, without lowering what an administrator chose; and lets the
# server notice that a client died during a statement, where its platform can.
_RAISE = """
SELECT (SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')),
       (SELECT set_config('client_connection_check_interval', '1000', false)
        WHERE version() !~* 'mingw|visual c|windows')
"""


@frozen
class Timeouts:
    """Bounds of one connection; zero means none. The defaults suit leases of 30 s.

    ``idle_in_transaction`` is well below what makes a fire time missed: what a frozen scheduler has locked, another one
    decides in time.
    """

    statement: timedelta = timedelta(seconds=7.5)
    lock: timedelta = timedelta(seconds=3.75)
    idle_in_transaction: timedelta = timedelta(seconds=5)


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def _out_of_reach(error: psycopg.OperationalError) -> Unavailable:
    """Say why, and what to do about a database that is not there."""
    cure = "; create it first" if _NO_DATABASE.search(str(error)) else ""
    return Unavailable(f"cannot connect: {str(error).rstrip()}{cure}")


@frozen
class Connector:
    """How to reach the database.

    ``generic_plans`` is for connections that repeat the same few statements: they are planned once, whatever their
    parameters. Planning a claim takes as long as claiming ten jobs, and each of these statements has but one plan.

    ``pooled`` is for a transaction pooler in between: no prepared statements, and nothing is set for the session.
    """

    dsn: str
    application_name: str = "fencepost"
    timeouts: Timeouts = field(factory=Timeouts)
    pooled: bool = False
    generic_plans: bool = False

    async def connect(self) -> psycopg.AsyncConnection[Any]:
        """Open an autocommitting connection; raises Unavailable."""
        try:
            connection = await psycopg.AsyncConnection.connect(**self._arguments())
            if not self.pooled:
                await connection.execute(_RAISE)
        except psycopg.OperationalError as error:
            raise _out_of_reach(error) from error
        return connection

    def connect_sync(self) -> psycopg.Connection[Any]:
        """Open one for threads; raises Unavailable."""
        try:
            connection = psycopg.Connection.connect(**self._arguments())
            if not self.pooled:
                connection.execute(_RAISE)
        except psycopg.OperationalError as error:
            raise _out_of_reach(error) from error
        return connection

    @property
    def settings(self) -> dict[str, str]:
        """What our statements rely on; given to the session, or to each transaction behind a pooler."""
        return {
            "statement_timeout": str(_milliseconds(self.timeouts.statement)),
            "lock_timeout": str(_milliseconds(self.timeouts.lock)),
            "idle_in_transaction_session_timeout": str(_milliseconds(self.timeouts.idle_in_transaction)),
            "TimeZone": "UTC",
            "IntervalStyle": "postgres",
            "jit": "off",  # compiling a batch's statement takes longer than running it
            **_INDEXED,
            **(_PLANNED_ONCE if self.generic_plans else {}),
        }

    @property
    def setting_arrays(self) -> tuple[list[str], list[str]]:
        """The settings' names and values, as parameters of a statement."""
        return list(self.settings), list(self.settings.values())

    @property
    def reply_within(self) -> float | None:
        """Seconds after which a silent server is given up: what the server's own timeouts should have prevented."""
        limit = self.timeouts.statement.total_seconds()
        return 2 * limit + CONNECT_SECONDS if limit else None

    def _arguments(self) -> dict[str, Any]:
        given = conninfo_to_dict(self.dsn)
        named = {"application_name": self.application_name, **NETWORK, **given}
        if not self.pooled:
            named["options"] = f"{given.get('options', '')} {self._options()}".strip()
        return {
            **named,
            "autocommit": True,
            "prepare_threshold": None if self.pooled else PREPARE_THRESHOLD,
        }

    def _options(self) -> str:
        """Client options override the defaults of role and database."""
        settings = {"default_transaction_isolation": r"read\ committed", **self.settings}
        return " ".join(f"-c {name}={value}" for name, value in settings.items())
