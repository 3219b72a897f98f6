"""Everything RESULTS.md tells, in one go: the peers, Fencepost and the floor, interleaved.

    python campaign.py --runs 5 --json results.jsonl
    python campaign.py --runs 5 --parts speed --systems fencepost,graphile,floor

Parts: ``speed`` (enqueue, drain, latency; about 5 minutes a run), ``steady`` (delayed, pinned; 13 minutes a run, twice
at most), ``crash`` (with default and with quick settings, all peers at once, once; 9 minutes). Each result is appended
to the file as it comes; a reader takes the newest of each.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from databases import server
from results import LIST

PARTS = ("speed", "steady", "crash")
BENCH = [sys.executable, str(Path(__file__).with_name("bench.py"))]
TWICE = 2


def commands(part: str, runs: int) -> Iterator[str]:
    """Return the options of the driver for each of its starts."""
    match part:
        case "speed":
            yield f"--scenario enqueue,drain,latency --runs {runs}"
        case "steady":
            yield f"--scenario delayed,pinned --runs {min(runs, TWICE)}"
            yield "--scenario delayed --profile poll --parallel"
        case _:
            yield "--scenario crash --profile quick --parallel --crash-limit 60"
            yield "--scenario crash --profile best --parallel --crash-limit 420"


def main() -> int:
    """Return the first exit code that is not 0."""
    p = argparse.ArgumentParser(description="Run the peers, Fencepost and the floor.")
    p.add_argument("--runs", type=int, default=5, help="interleaved passes of the part speed")
    p.add_argument("--parts", default=",".join(PARTS), help="comma-separated: " + ", ".join(PARTS))
    p.add_argument("--systems", help="as the driver takes them; default: all durable ones and the floor")
    p.add_argument("--json", type=Path, default=LIST)
    asked = p.parse_args()
    parts = asked.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        p.error(f"{min(unknown)} is none of {', '.join(PARTS)}")
    chosen = ["--systems", asked.systems] if asked.systems else []
    with server() as dsn:
        for part in parts:
            for options in commands(part, asked.runs):
                command = [*BENCH, *options.split(), *chosen, "--json", str(asked.json)]
                code = subprocess.run(command, env={**os.environ, "PEERS_DSN": dsn}, check=False).returncode
                if code:
                    return code
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through `server`, which removes what it started
    sys.exit(main())
