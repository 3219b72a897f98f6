"""An embedded server is private, durable and does as it is told."""

import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from fencepost.adapters.embedded import EmbeddedPostgres, Running, temporary_postgres
from support.places import passable_folder


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """One server for all tests that only look at it."""
    with passable_folder() as folder, EmbeddedPostgres(folder / "data") as running:
        yield running


def _ask(dsn: str, question: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(question).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
        ("password_encryption", "scram-sha-256"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("lc_messages", "C"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("shared_buffers", "128MB"),
        ("max_connections", "200"),
        ("TimeZone", "UTC"),
    ],
)
def test_a_server_is_private_and_durable_unless_told_otherwise(
    server: Running, setting: str, value: str
) -> None:
    """Loopback only, no socket, hashed passwords, checksums, UTF-8, durable writes."""
    assert _ask(server.dsn, f"SHOW {setting}") == value


@pytest.mark.parametrize("password", ["", "wrong"])
def test_nobody_gets_in_without_the_password(server: Running, password: str) -> None:
    """No password and a wrong password are both refused."""
    secret = str(urlsplit(server.dsn).password)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(server.dsn.replace(secret, password))


def test_the_password_is_kept_where_only_its_owner_can_read_it(server: Running) -> None:
    """The file beside the data folder has mode 0600, and representations do not show what is in it."""
    data = Path(str(_ask(server.dsn, "SHOW data_directory")))
    state = data.with_name("data.json")
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert str(urlsplit(server.dsn).password) not in repr(server)


def test_the_server_says_what_it_is(server: Running) -> None:
    """Version and process id are those of the server that answers."""
    assert str(_ask(server.dsn, "SHOW server_version")).startswith(server.version)
    data = Path(str(_ask(server.dsn, "SHOW data_directory")))
    assert (data / "postmaster.pid").read_text().startswith(f"{server.pid}\n")


def test_settings_given_replace_the_defaults(datadir: Path) -> None:
    """A mapping of settings reaches the server."""
    with EmbeddedPostgres(datadir, settings={"max_connections": "33", "fsync": "off"}) as running:
        assert (_ask(running.dsn, "SHOW max_connections"), _ask(running.dsn, "SHOW fsync")) == ("33", "off")


@pytest.mark.parametrize("name", ["listen_addresses", "unix_socket_directories", "PORT", "a b", "-x"])
def test_settings_that_would_open_the_server_are_refused(datadir: Path, name: str) -> None:
    """What makes the server private cannot be overridden."""
    with pytest.raises(ValueError, match="not a setting"):
        EmbeddedPostgres(datadir, settings={name: "*"})


def test_data_outlive_the_server(datadir: Path) -> None:
    """What was committed before a stop is there after the next start."""
    with EmbeddedPostgres(datadir) as running, psycopg.connect(running.dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
    with EmbeddedPostgres(datadir) as running:
        assert _ask(running.dsn, "SELECT n FROM kept") == 42


def test_a_second_start_adopts_the_server_and_leaves_it_running(datadir: Path) -> None:
    """Whoever adopts a server does not stop it on the way out."""
    with EmbeddedPostgres(datadir) as first:
        with EmbeddedPostgres(datadir) as second:
            assert (first.adopted, second.adopted, second.pid) == (False, True, first.pid)
        assert _ask(first.dsn, "SELECT 1") == 1


def test_stopping_is_repeatable(datadir: Path) -> None:
    """Stopping twice, or what was never started, does nothing."""
    server = EmbeddedPostgres(datadir)
    server.stop()
    running = server.start()
    server.stop()
    server.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(running.dsn)


def test_a_busy_server_is_stopped_all_the_same(datadir: Path) -> None:
    """A fast shutdown ends clients in the middle of what they do, and the start after it needs no recovery."""
    server = EmbeddedPostgres(datadir)
    connection = psycopg.connect(server.start().dsn)
    connection.execute("CREATE TABLE unfinished (n int)")
    server.stop()
    connection.close()
    with server:
        log = datadir.with_name("data.log").read_text()
    assert "received fast shutdown request" in log
    assert "automatic recovery" not in log


def test_a_removed_server_leaves_nothing(datadir: Path) -> None:
    """Data, password, locks and log are gone; the next start begins from nothing."""
    server = EmbeddedPostgres(datadir)
    server.start()
    server.remove()
    assert list(datadir.parent.iterdir()) == []
    server.remove()


def test_a_temporary_server_is_gone_afterwards() -> None:
    """It works while it is needed; then its folder no longer exists."""
    with temporary_postgres(settings={"max_connections": "20"}) as running:
        assert _ask(running.dsn, "SHOW max_connections") == "20"
        data = Path(str(_ask(running.dsn, "SHOW data_directory")))
    assert not data.parent.exists()


def test_the_log_does_not_grow_for_ever(datadir: Path) -> None:
    """A log that has become large is begun anew at the next start."""
    log = datadir.with_name("data.log")
    log.write_bytes(b"\n" * 10_000_001)
    with EmbeddedPostgres(datadir):
        assert log.stat().st_size < 100_000
