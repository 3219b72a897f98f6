"""One server, one fresh database per measurement."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg

SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "15min"}
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


class NotDurable(Exception):
    """The server would lose what it has confirmed, so that its speed says nothing."""


@contextmanager
def server() -> Iterator[str]:
    """Yield PEERS_DSN, or that of an embedded PostgreSQL which is gone afterwards.

    The DSN may create and drop databases named peer_*.
    """
    if dsn := os.environ.get("PEERS_DSN"):
        yield dsn
        return
    from fencepost.adapters.embedded import temporary_postgres  # noqa: PLC0415 - only here is it needed

    with temporary_postgres(settings=SETTINGS) as running:
        yield running.dsn


def check_durable(dsn: str) -> str:
    """Return the server's version; raises NotDurable."""
    with psycopg.connect(dsn) as connection:
        for name in (*DURABLE, "server_version"):
            row = connection.execute("select current_setting(%s)", (name,)).fetchone()
            assert row
            if name in DURABLE and row[0] != "on":
                raise NotDurable(f"{name} must be on")
    return str(row[0])


def with_database(dsn: str, name: str) -> str:
    """Return the address of another database on the same server."""
    url = urlsplit(dsn)
    return urlunsplit((url.scheme, url.netloc, "/" + name, url.query, url.fragment))


def recreate_database(dsn: str, name: str) -> str:
    """Make the database anew and return its address."""
    drop_database(dsn, name)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    return with_database(dsn, name)


def drop_database(dsn: str, name: str) -> None:
    """Drop the database, whoever is connected to it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)')
