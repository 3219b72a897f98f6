"""What is measured; each scenario takes an adapter whose schema is there, and returns its figures."""

from collections.abc import Awaitable, Callable
from typing import Any

from adapter import Adapter

from scenarios.crash import crash
from scenarios.latency import delayed, latency
from scenarios.options import Options
from scenarios.pinned import pinned
from scenarios.throughput import drain, enqueue

Scenario = Callable[[Adapter, Options], Awaitable[dict[str, Any]]]

SCENARIOS: dict[str, Scenario] = {
    "enqueue": enqueue,
    "drain": drain,
    "latency": latency,
    "pinned": pinned,
    "delayed": delayed,
    "crash": crash,
}
WITH_PROFILE = ("delayed", "crash")
"""They mostly wait, so that several peers may run at once, and they know profiles beside ``best``."""
