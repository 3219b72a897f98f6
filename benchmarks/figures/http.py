"""How many jobs a second one API process accepts, one in each request, on 32 connections that wrk keeps busy."""

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from ground.asking import PATIENCE, ask
from ground.bench import Bench, Outcome
from ground.numbers import median
from ground.processes import Process, command

SCRIPT = Path(__file__).parents[1] / "http" / "submit.lua"
CONNECTIONS, SECONDS, WARM_UP = 32, 10.0, 1
ACCEPTED = """
SELECT count(*) / extract(epoch FROM max(at) - min(at)) FROM fencepost.job_events WHERE job_id > %s
"""


def http(bench: Bench) -> Outcome:
    """Measure by the history: what is there was accepted and is durable."""
    if (wrk := shutil.which("wrk")) is None:
        return Outcome(value=None, unit="jobs/s", details={"left_out": "wrk is not installed"})
    rates, told = [], []
    for _ in bench.runs():
        rate, said = _accepted(bench, wrk)
        rates.append(rate)
        told.append(said)
    return Outcome(
        value=median(rates),
        unit="jobs/s",
        details={
            "connections": CONNECTIONS,
            "p50_ms": median(said["p50_ms"] for said in told),
            "p99_ms": median(said["p99_ms"] for said in told),
            "runs": rates,
            "wrk": told,
        },
    )


def _accepted(bench: Bench, wrk: str) -> tuple[float, dict[str, Any]]:
    """Return jobs per second, and what wrk says."""
    port = _free_port()
    with bench.database() as dsn, command(dsn, "api", "--port", str(port)) as api:
        _until_open(api, port)
        _requests(wrk, port, WARM_UP)
        before = ask(dsn, "SELECT count(*) FROM fencepost.jobs")
        said = _requests(wrk, port, bench.options.seconds or SECONDS)
        there = ask(dsn, "SELECT count(*) FROM fencepost.jobs") - before
        assert there >= said["answered"] - said["refused"], f"{said}, but only {there} jobs are there"
        return float(ask(dsn, ACCEPTED, [before])), said


def _requests(wrk: str, port: int, seconds: float) -> dict[str, Any]:
    done = subprocess.run(
        [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "-s", str(SCRIPT), f"http://127.0.0.1:{port}"],
        check=True,
        capture_output=True,
        text=True,
    )
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def _until_open(api: Process, port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        api.alive()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("the API does not listen")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
