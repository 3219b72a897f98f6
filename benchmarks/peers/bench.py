"""Run job queues through the same scenarios, one after the other. See README.md.

python bench.py --systems fencepost,graphile --scenario drain --runs 5 --json results.jsonl
python bench.py --scenario crash --profile quick --parallel
"""

import argparse
import asyncio
import json
import math
import os
import platform
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from databases import check_durable, server
from floor_run import floor
from measuring import measured
from scenarios import SCENARIOS, WITH_PROFILE
from scenarios.options import Options
from systems import FLOOR, POSTGRES, SYSTEMS

DEFAULT_SCENARIOS = ("enqueue", "drain", "latency", "delayed", "pinned")
UNSHOWN = (
    "system",
    "scenario",
    "settings",
    "windows",
    "at",
    "backend",
    "name",
    "version",
    "began",
    "machine",
)


def arguments() -> argparse.Namespace:
    """Read the command line."""

    def names(known: tuple[str, ...]) -> Any:
        def convert(text: str) -> list[str]:
            chosen = [name for name in text.split(",") if name]
            if unknown := set(chosen) - set(known):
                raise argparse.ArgumentTypeError(f"{min(unknown)} is none of {', '.join(known)}")
            return chosen

        return convert

    p = argparse.ArgumentParser(
        description="Run job queues through the same scenarios.",
        epilog="PEERS_DSN: a server whose user may create databases; else an embedded PostgreSQL. "
        "PEERS_REDIS: a Redis database, which is FLUSHED.",
    )
    p.add_argument("--systems", type=names(SYSTEMS), default=[*POSTGRES, FLOOR], help=", ".join(SYSTEMS))
    p.add_argument(
        "--scenario", type=names(tuple(SCENARIOS)), default=list(DEFAULT_SCENARIOS), help=", ".join(SCENARIOS)
    )
    p.add_argument("--runs", type=int, default=1, help="whole passes, one after the other (interleaved)")
    p.add_argument("--jobs", type=int, help="instead of each scenario's own number")
    p.add_argument("--concurrency", type=int, help="handlers at once, for peers with that one knob")
    p.add_argument(
        "--profile",
        default="best",
        choices=("best", "quick", "poll"),
        help="settings for crash (best, quick) and delayed (best, poll)",
    )
    p.add_argument("--parallel", action="store_true", help="crash and delayed for all systems at once")
    p.add_argument("--limit", type=float, default=120, help="seconds until drain gives up")
    p.add_argument("--crash-limit", type=float, default=150, help="seconds until crash gives up")
    p.add_argument("--pinned-seconds", type=float, default=60)
    p.add_argument("--json", type=Path, help="append one JSON object per measurement to this file")
    return p.parse_args()


async def results(asked: argparse.Namespace, options: Options, dsn: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the results of one pass: each scenario for all systems, then the next; the floor at the end."""
    redis = os.environ.get("PEERS_REDIS", "redis://127.0.0.1:6379/9")
    systems = [system for system in asked.systems if system != FLOOR]
    for scenario in asked.scenario:
        if scenario in WITH_PROFILE and asked.parallel:
            at_once = (measured(system, scenario, options, dsn, redis) for system in systems)
            for result in await asyncio.gather(*at_once):
                yield result
        else:
            for system in systems:
                yield await measured(system, scenario, options, dsn, redis)
    if FLOOR in asked.systems and {"enqueue", "drain"} & set(asked.scenario):
        for result in floor(dsn):
            yield result


def machine(postgres: str) -> str:
    """Return what the results depend on."""
    return f"Python {platform.python_version()}, PostgreSQL {postgres}, {os.cpu_count()} cores"


def keep(result: dict[str, Any], file: Path | None) -> None:
    """Show a result and append it to the file; there is no NaN in JSON."""
    line = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in result.items()}
    facts = {
        k: round(v, 3) if isinstance(v, float) else v for k, v in line.items() if k not in UNSHOWN and v != ""
    }
    print(f"{line['system']:14} {line['scenario']:8} {facts}", flush=True)
    if file:
        with file.open("a") as lines:
            lines.write(json.dumps(line) + "\n")


async def main() -> None:
    """Run all passes."""
    asked = arguments()
    if asked.concurrency:
        os.environ["PEER_CONCURRENCY"] = str(asked.concurrency)
    options = Options(asked.jobs, asked.profile, asked.limit, asked.crash_limit, asked.pinned_seconds)
    with server() as dsn:
        common = {
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(check_durable(dsn)),
        }
        print(common["machine"], flush=True)
        for run in range(1, asked.runs + 1):
            async for result in results(asked, options, dsn):
                keep({"run": run, **common, **result}, asked.json)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through every `finally`: nothing is left behind
    asyncio.run(main())
