"""Measure every figure, or those named: ``python benchmarks [FIGURE …]``; one line of JSON each."""

import json
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

from figures import FIGURES
from ground.bench import Bench, Outcome
from ground.judging import Judgement
from ground.numbers import ratio, rounded
from ground.options import parsed
from ground.server import ADDRESS


def main() -> int:
    """Return 1 when a promise was broken or a figure could not be measured."""
    signal.signal(signal.SIGTERM, _leave)
    options = parsed(sys.argv[1:], tuple(FIGURES))
    address = os.environ.get(ADDRESS)
    for name in [name for name in os.environ if name.startswith("FENCEPOST_")]:
        del os.environ[name]  # what is measured are the defaults
    bench = Bench(options, address)
    try:
        failed = [name for name in options.figures if not _measured(bench, name)]
        return 1 if failed else 0
    finally:
        bench.close()


def _measured(bench: Bench, name: str) -> bool:
    """Measure one figure and print its line."""
    bench.say(f"{name}: the goal is {FIGURES[name].goal}")
    bench.judgement = Judgement()
    load = os.getloadavg()[0]
    error = None
    try:
        outcome = FIGURES[name].measure(bench)
    except Exception as failure:  # noqa: BLE001 - the other figures can still be measured
        traceback.print_exc()
        outcome, error = Outcome(value=None, unit=""), f"{type(failure).__name__}: {failure}"
    found = bench.judgement
    line = {**_line(name, outcome), "judged": found.jobs, "violations": found.violations, "load": load}
    print(json.dumps(rounded(line | ({"error": error} if error else {})), ensure_ascii=False), flush=True)
    return error is None and not found.violations


def _line(name: str, outcome: Outcome) -> dict[str, Any]:
    peers = _peers(FIGURES[name].among_peers or name)
    return {
        "figure": name,
        "value": outcome.value,
        "unit": outcome.unit,
        "floor": outcome.floor,
        "ratio": ratio(outcome.value, outcome.floor),
        "peers": peers,
        "over_peers": {peer: ratio(outcome.value, value) for peer, value in peers.items()},
        "goal": FIGURES[name].goal,
        **outcome.details,
    }


def _peers(name: str) -> dict[str, float]:
    """Return what the peers come to, as far as they were measured."""
    try:
        from peer_figures import peer_values  # noqa: PLC0415 - they need not be there
    except ImportError:
        return {}
    return dict(peer_values(name))


def _leave(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(143)  # through every `finally`: no process and no database is left behind


if __name__ == "__main__":
    sys.exit(main())
