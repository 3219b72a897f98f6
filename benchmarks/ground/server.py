"""A durable PostgreSQL, and databases of the benchmarks' own on it.

FENCEPOST_BENCH_DATABASE_URL is an administrator's address: databases named ``fencepost_bench_…`` are made beside it and
dropped. Without it an embedded server runs for as long as the benchmarks do.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from attrs import frozen
from psycopg import sql

from fencepost.adapters.embedded import temporary_postgres

from .asking import ask

ADDRESS = "FENCEPOST_BENCH_DATABASE_URL"
SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "15min"}
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")
EMPTY = "template0"


@frozen
class Server:
    """One server, by an administrator's address."""

    admin: str

    @contextmanager
    def database(self, template: str = EMPTY) -> Iterator[str]:
        """Yield the address of a copy of a template; drop it afterwards, whoever is still connected."""
        name = f"fencepost_bench_{os.getpid()}_{secrets.token_hex(4)}"
        # Copying the files is much less work than logging every page; the server writes checkpoints around it.
        strategy = sql.SQL("" if template == EMPTY else " STRATEGY FILE_COPY")
        self._run(
            "CREATE DATABASE {} TEMPLATE {}{}", sql.Identifier(name), sql.Identifier(template), strategy
        )
        try:
            yield urlsplit(self.admin)._replace(path=f"/{name}").geturl()
        finally:
            self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", sql.Identifier(name))

    def version(self) -> str:
        """Return the server's version."""
        return str(ask(self.admin, "SHOW server_version"))

    def free_bytes(self) -> int | None:
        """Return the space left for data, when the server's folder can be seen from here."""
        folder = Path(ask(self.admin, "SHOW data_directory"))
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            return None

    def bytes_of(self, database: str) -> int:
        """Return the size of a database."""
        return int(ask(self.admin, "SELECT pg_database_size(%s)", [database]))

    def _run(self, statement: str, *parts: sql.Composable) -> None:
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*parts))


@contextmanager
def serving(address: str | None) -> Iterator[Server]:
    """Yield the given server, else an embedded one; refuses a server that does not keep what it commits."""
    if address:
        yield _durable(Server(address))
        return
    with temporary_postgres(settings=SETTINGS) as running:
        yield _durable(Server(running.dsn))


def name_of(dsn: str) -> str:
    """Return a database's name."""
    return urlsplit(dsn).path.lstrip("/")


def _durable(server: Server) -> Server:
    loose = [name for name in DURABLE if ask(server.admin, f"SHOW {name}") != "on"]
    if loose:
        raise SystemExit(f"{', '.join(loose)} must be on: speed without durability is not measured")
    return server
