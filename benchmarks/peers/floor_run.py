"""The SQL floor as results: floor/run.sh with its lines read."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from databases import with_database
from systems import FLOOR

SCRIPT = Path(__file__).with_name("floor") / "run.sh"
LINE = re.compile(r"floor (enqueue|work) +clients=(\d+) batch=(\d+) jobs/s=(\d+)")
SCENARIO = {"enqueue": "enqueue", "work": "drain"}


def floor(dsn: str) -> Iterator[dict[str, Any]]:
    """Yield jobs/s of bulk insert and of claim + complete, for 1 and for 2 clients.

    Without pgbench and psql there is one result that says so.
    """
    common = {
        "system": FLOOR,
        "name": "SQL floor",
        "version": "",
        "backend": "postgres",
        "settings": "see floor/",
    }
    missing = [p for p in (os.environ.get("PGBENCH", "pgbench"), "psql") if shutil.which(p) is None]
    if missing:
        said = f"{' and '.join(missing)} not found: the floor needs PostgreSQL's client programs on PATH (or PGBENCH)"
        yield {**common, "scenario": "drain", "error": said}
        return
    environment = {**os.environ, "PEERS_DSN": dsn, "FLOOR_DSN": with_database(dsn, "peer_floor")}
    load = os.getloadavg()[0]
    ran = subprocess.run([str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        yield {**common, "scenario": "drain", "error": ran.stderr[-1_500:] or f"exit code {ran.returncode}"}
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for kind, clients, batch, rate in LINE.findall(ran.stdout):
        figures = {"clients": int(clients), "batch": int(batch), "per_s": float(rate)}
        yield {**common, "scenario": SCENARIO[kind], "at": at, "load": load, **figures}
