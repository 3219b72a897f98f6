"""The databases tests work in: fresh, their own, gone afterwards."""

import psycopg

from support.databases import new_database


def _databases(server: str) -> set[str]:
    with psycopg.connect(server) as connection:
        return {row[0] for row in connection.execute("SELECT datname FROM pg_database")}


def test_a_database_is_dropped_while_somebody_is_still_connected(server: str) -> None:
    """A test that forgets a connection leaves no database behind."""
    with new_database(server) as dsn:
        forgotten = psycopg.connect(dsn)
        name = forgotten.info.dbname
        assert name in _databases(server)
    assert name not in _databases(server)
    forgotten.close()


def test_a_copy_has_what_its_template_has_and_keeps_its_changes_to_itself(server: str) -> None:
    """Two databases from one template start alike and do not see each other."""
    with new_database(server) as template:
        with psycopg.connect(template) as connection:
            connection.execute("CREATE TABLE copied (n int)")
            name = connection.info.dbname
        with new_database(server, name) as one, new_database(server, name) as other:
            with psycopg.connect(one) as connection:
                connection.execute("INSERT INTO copied VALUES (1)")
            with psycopg.connect(other) as connection:
                assert connection.execute("SELECT count(*) FROM copied").fetchone() == (0,)
