"""The floor: the least that a queue with leases and a history could do in SQL, driven by pgbench with two clients."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from psycopg.conninfo import conninfo_to_dict

from .asking import ask, tell
from .filling import settle
from .server import Server

HERE = Path(__file__).parents[1] / "peers" / "floor"
CLIENTS = 2
CLAIMED, INSERTED, FILLED = 100, 1_000, 10_000
"""Jobs in one transaction: of those that work, of those that insert, of those that fill the table before."""
PROGRAMS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/*/bin",
)


@frozen
class Floor:
    """Knows pgbench; ``missing`` says why there is no floor."""

    server: Server
    pgbench: str | None
    missing: str | None

    def drained(self, jobs: int) -> float | None:
        """Return jobs per second of claiming and completing so many."""
        if self.missing:
            return None
        with self._tables() as dsn:
            self._run(dsn, "enq.sql", -(-2 * jobs // FILLED), FILLED, clients=1)  # more than enough for all
            settle(dsn)
            per_client = -(-jobs // (CLAIMED * CLIENTS))
            per_second = self._run(dsn, "work.sql", per_client, CLAIMED)
            done = ask(dsn, "SELECT count(*) FROM jobs WHERE status = 'succeeded'")
            assert done == per_client * CLIENTS * CLAIMED, f"the floor ran dry after {done} jobs"
            return per_second

    def inserted(self, jobs: int) -> float | None:
        """Return jobs per second of inserting so many."""
        if self.missing:
            return None
        with self._tables() as dsn:
            tell(dsn, "CHECKPOINT")
            return self._run(dsn, "enq.sql", -(-jobs // (INSERTED * CLIENTS)), INSERTED, prepared=True)

    @contextmanager
    def _tables(self) -> Iterator[str]:
        with self.server.database() as dsn:
            tell(dsn, *(part for part in (HERE / "schema.sql").read_text().split(";\n") if part.strip()))
            yield dsn

    def _run(
        self, dsn: str, script: str, times: int, batch: int, *, clients: int = CLIENTS, prepared: bool = False
    ) -> float:
        """Run a script so many times in each client; returns jobs per second."""
        number = str(clients)
        flags = ["-n", "-c", number, "-j", number, "-t", str(times), "-D", f"n={batch}"]
        flags += ["-M", "prepared"] if prepared else []
        done = subprocess.run(
            [str(self.pgbench), *flags, "-f", str(HERE / script)],
            env=os.environ | _environment(dsn),
            check=True,
            capture_output=True,
            text=True,
        )
        [rate] = re.findall(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
        return float(rate) * batch


def floor(server: Server) -> Floor:
    """Find what the floor needs."""
    pgbench = shutil.which("pgbench") or next(
        (str(found) for pattern in PROGRAMS for found in sorted(Path("/").glob(f"{pattern[1:]}/pgbench"))),
        None,
    )
    missing = None
    if pgbench is None:
        missing = "pgbench is not installed"
    elif not (HERE / "work.sql").exists():
        missing = f"{HERE.parent.name}/{HERE.name} is missing"
    return Floor(server, pgbench, missing)


def _environment(dsn: str) -> dict[str, str]:
    """Return an address as libpq's variables: a password does not belong on a command line."""
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "password": "PGPASSWORD",
        "dbname": "PGDATABASE",
    }
    return {names[name]: str(value) for name, value in conninfo_to_dict(dsn).items() if name in names}
