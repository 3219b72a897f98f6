"""The schema's versions, shipped with the package and applied by it."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from ....domain.errors import InvalidInput
from ..connector import Connector, Timeouts
from ..errors import translated

HERE = Path(__file__).parent
VERSION_TABLE = "schema_versions"
TRIES = 5
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PATIENT = Timeouts(timedelta(0), timedelta(minutes=2), timedelta(minutes=2))
_ONE_AT_A_TIME = Lock()  # Alembic keeps the migration it is at in a global
# Roles belong to the whole cluster: migrations of other databases may change the same rows of its catalogues.
_COLLISIONS = {"XX000", "23505", "40001", "40P01", "42710", "42501"}


def migrate(dsn: str, schema: str = "fencepost") -> None:
    """Bring the schema up to date, in one transaction; processes that race do it one after the other.

    Raises InvalidInput for a schema's name that would need quoting, Unavailable.
    """
    _check(schema)
    for tries_left in reversed(range(TRIES)):
        try:
            with _ONE_AT_A_TIME, _connected(dsn) as connection, connection.begin():
                _lock(connection, schema)
                if _lacking(connection, schema):
                    command.upgrade(_config(schema, connection), "head")
        except DBAPIError as error:
            if not tries_left or getattr(error.orig, "sqlstate", None) not in _COLLISIONS:
                raise _meaning(error) from error
        else:
            return


def pending(dsn: str, schema: str = "fencepost") -> list[str]:
    """Return the versions that ``migrate`` would apply, oldest first; none when a newer program was here.

    Raises InvalidInput as ``migrate`` does, Unavailable.
    """
    _check(schema)
    try:
        with _connected(dsn) as connection:
            return _lacking(connection, schema)
    except DBAPIError as error:
        raise _meaning(error) from error


def sql(schema: str = "fencepost") -> str:
    """Return the whole schema as SQL text, for an administrator to read and run."""
    _check(schema)
    config = _config(schema, None)
    config.output_buffer = io.StringIO()
    command.upgrade(config, "head", sql=True)
    return config.output_buffer.getvalue()


def _lacking(connection: Connection, schema: str) -> list[str]:
    options = {"version_table": VERSION_TABLE, "version_table_schema": schema}
    applied = MigrationContext.configure(connection, opts=options).get_current_heads()
    script = ScriptDirectory(HERE)
    known = {version.revision for version in script.walk_revisions()}
    if not known.issuperset(applied):
        return []
    return [version.revision for version in script.iterate_revisions("heads", applied)][::-1]


def _check(schema: str) -> None:
    if not _SCHEMA.fullmatch(schema):
        raise InvalidInput("schema", f"must match {_SCHEMA.pattern}")


@contextmanager
def _connected(dsn: str) -> Iterator[Connection]:
    connector = Connector(dsn, "fencepost migrate", _PATIENT)

    def connect() -> psycopg.Connection[Any]:
        connection = connector.connect_sync()
        connection.autocommit = False
        return connection

    engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


def _lock(connection: Connection, schema: str) -> None:
    connection.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('fencepost:' || :schema, 0))"), {"schema": schema}
    )


def _config(schema: str, connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.attributes["run"] = _run(schema, connection)
    return config


def _run(schema: str, connection: Connection | None) -> Callable[[EnvironmentContext], None]:
    """Return what Alembic's environment does: everything inside the one transaction it is called in."""

    def run(context: EnvironmentContext) -> None:
        def execute(file: str) -> None:
            statements = (HERE / file).read_text(encoding="utf-8").format(schema=f'"{schema}"')
            if connection is None:
                context.static_output(statements)
            else:
                context.execute(text(statements.replace(":", "\\:")))

        context.config.attributes["execute"] = execute
        context.configure(
            connection=connection,
            dialect_name="postgresql",
            version_table=VERSION_TABLE,
            version_table_schema=schema,
            transactional_ddl=True,
        )
        with context.begin_transaction():
            if connection is None or not _exists(connection, schema):
                context.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            context.run_migrations()

    return run


def _exists(connection: Connection, schema: str) -> bool:
    """Tell whether the schema is there: creating it "if not exists" takes a privilege even then."""
    found = connection.execute(text("SELECT FROM pg_namespace WHERE nspname = :schema"), {"schema": schema})
    return found.first() is not None


def _meaning(error: DBAPIError) -> Exception:
    cause = error.orig
    assert isinstance(cause, Exception)
    return translated(cause, in_doubt=False)
