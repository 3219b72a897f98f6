"""What the benchmarks of whole processes stand on: a durable server, a fresh database, real worker processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from fencepost.adapters.embedded import temporary_postgres
from fencepost.adapters.postgres.migrations import migrate

HERE = Path(__file__).parent
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}


@contextmanager
def database() -> Iterator[str]:
    """Yield a migrated database: FENCEPOST_BENCH_DATABASE_URL, or else one on an embedded, durable server."""
    if url := os.environ.get("FENCEPOST_BENCH_DATABASE_URL"):
        migrate(url)
        yield url
        return
    with temporary_postgres(settings=SETTINGS) as running:
        migrate(running.dsn)
        yield running.dsn


@contextmanager
def worker(dsn: str, slots: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run one worker process for the block."""
    command = [
        sys.executable,
        "-m",
        "fencepost.entrypoints.cli",
        "worker",
        "noop:app",
        "--queues",
        f"bench:{slots}",
    ]
    process = subprocess.Popen(
        command,
        cwd=HERE,
        env={**os.environ, "FENCEPOST_DATABASE_URL": dsn},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def ask(dsn: str, query: str) -> Any:
    """Return the first column of a query's first row."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
        return row[0] if row else None
