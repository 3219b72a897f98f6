"""One database for many tests, emptied in between: making a fresh one for each takes a hundred times as long."""

import psycopg
from psycopg import sql

TABLES = """
SELECT c.oid, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'fencepost' AND c.relkind = 'r' AND c.relname <> 'schema_versions'
"""
TRIGGERS = "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = %s AND NOT tgisinternal"
AS_BEFORE = {"A": "ENABLE ALWAYS", "O": "ENABLE", "R": "ENABLE REPLICA", "D": "DISABLE"}


def wipe(dsn: str) -> None:
    """Remove all rows and start all numbers at 1 again; only a superuser gets past the triggers that forbid it."""
    with psycopg.connect(dsn) as connection:
        tables = connection.execute(TABLES).fetchall()
        triggers = [
            (table, name, enabled)
            for oid, table in tables
            for name, enabled in connection.execute(TRIGGERS, [oid]).fetchall()
        ]
        for table, name, _ in triggers:
            _switch(connection, table, name, "DISABLE")
        names = sql.SQL(", ").join(sql.Identifier("fencepost", table) for _, table in tables)
        connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY").format(names))
        connection.execute("ALTER SEQUENCE fencepost.positions RESTART")
        for table, name, enabled in triggers:
            _switch(connection, table, name, AS_BEFORE[_letter(enabled)])


def _letter(enabled: str | bytes) -> str:
    return enabled.decode() if isinstance(enabled, bytes) else enabled


def _switch(connection: psycopg.Connection, table: str, trigger: str, how: str) -> None:
    statement = sql.SQL("ALTER TABLE {} {} TRIGGER {}")
    connection.execute(
        statement.format(sql.Identifier("fencepost", table), sql.SQL(how), sql.Identifier(trigger))
    )
