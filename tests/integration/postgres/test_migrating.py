"""Making the schema: raced, interrupted, by roles of little power."""

import secrets
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from fencepost.adapters.postgres.migrations import migrate, pending, sql
from fencepost.domain.errors import InvalidInput, Unavailable
from support.databases import new_database
from support.proxy import Proxy, Trouble

MIGRATE = "import sys; from fencepost.adapters.postgres.migrations import migrate; migrate(sys.argv[1])"
VERSIONS = ["0001", "0002"]
TABLES = """
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = %s ORDER BY 1, 2
"""


def shape(dsn: str, schema: str = "fencepost") -> list[tuple[str, ...]]:
    """All columns of a schema."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(TABLES, [schema]).fetchall()


def test_processes_that_race_on_an_empty_database_give_one_schema(empty_database: str) -> None:
    """B203: Five start at once, none fails, and nothing is left to do."""
    racers = [subprocess.Popen([sys.executable, "-c", MIGRATE, empty_database]) for _ in range(5)]
    assert [racer.wait(60) for racer in racers] == [0] * 5
    assert pending(empty_database) == []


def test_databases_of_one_cluster_can_be_migrated_at_the_same_time(server: str) -> None:
    """The one role they share is no obstacle."""
    with new_database(server) as one, new_database(server) as two:
        racers = [subprocess.Popen([sys.executable, "-c", MIGRATE, dsn]) for dsn in (one, two)]
        assert [racer.wait(60) for racer in racers] == [0, 0]
        assert shape(one) == shape(two) != []


def test_a_migration_that_fails_near_its_end_leaves_nothing(empty_database: str) -> None:
    """B203: It is one transaction: the tables made before the failure are not there."""
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE SCHEMA fencepost")
        connection.execute(
            "CREATE FUNCTION fencepost.prune(bigint[], text, text, text) RETURNS int LANGUAGE sql AS 'SELECT 1'"
        )
    with pytest.raises(psycopg.errors.DuplicateFunction):
        migrate(empty_database)
    assert shape(empty_database) == []
    assert pending(empty_database) == VERSIONS


def test_the_schema_printed_for_an_administrator_is_the_one_that_is_made(
    empty_database: str, database: str
) -> None:
    """The text can be run as it is."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(sql().encode())
    assert shape(empty_database) == shape(database)
    assert pending(empty_database) == []


def test_two_schemas_live_in_one_database(database: str) -> None:
    """The schema's name is the only thing they do not share."""
    migrate(database, "second")
    assert shape(database, "second") == shape(database)


def test_a_name_that_would_need_quoting_is_refused() -> None:
    """It is said before anything is connected to."""
    with pytest.raises(InvalidInput, match="schema"):
        migrate("host=nowhere.invalid", 'x"; DROP')


def test_a_database_that_cannot_be_reached_is_unavailable() -> None:
    """The error is the same as everywhere."""
    with pytest.raises(Unavailable):
        migrate("host=127.0.0.1 port=1 user=x dbname=x")


@pytest.fixture
def migrator(empty_database: str) -> Iterator[str]:
    """The address of the database for a role that may make schemas and roles, but is no superuser."""
    name = f"migrator_{secrets.token_hex(4)}"
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD 'm'".encode())
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {name}".encode())
        yield make_conninfo(empty_database, user=name, password="m")
        connection.execute(f"DROP OWNED BY {name} CASCADE".encode())
        connection.execute(f"DROP ROLE {name}".encode())


def test_a_role_that_may_not_use_the_keeper_is_told_what_to_ask_for(
    migrator: str, empty_database: str, template: str
) -> None:
    """Since 16 only the keeper's maker may; with an administrator's grant, everybody."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        name = psycopg.conninfo.conninfo_to_dict(migrator)["user"]
        if connection.info.server_version >= 160_000:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="ADMIN OPTION"):
                migrate(migrator)
            connection.execute(f"GRANT fencepost_keeper TO {name} WITH ADMIN OPTION".encode())
        migrate(migrator)
    assert pending(migrator) == []


def test_the_migrator_cannot_become_the_keeper_afterwards(migrator: str, template: str) -> None:
    """What it granted itself for the migration is taken back."""
    with psycopg.connect(migrator) as connection:
        if connection.info.server_version >= 160_000:
            pytest.skip("the keeper of this cluster was made by a superuser")
    migrate(migrator)
    with psycopg.connect(migrator) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SET ROLE fencepost_keeper")


@pytest.mark.parametrize("question", ["select pg_catalog.version()", "SELECT fencepost.schema_versions"])
def test_a_connection_lost_during_the_check_is_unavailable(proxy: Proxy, question: str) -> None:
    """A process that starts while connections are cut tries again, as it does when it cannot connect."""
    proxy.trouble(question, Trouble.REPLY_LOST)
    with pytest.raises(Unavailable):
        pending(proxy.dsn)
    assert proxy.struck.is_set()
    assert pending(proxy.dsn) == []
