"""What the peers came to, for the figures that have a counterpart among their scenarios.

It is read from ``peers/results.jsonl``, which ``make bench-peers`` writes; the newest start of its driver counts.
"""

from pathlib import Path

from attrs import frozen
from peers.results import LIST, load, middle, newest

OURS = ("fencepost", "fencepost100", "floor")


@frozen
class Source:
    """Where a figure comes from: a scenario, fields that are added up, and a factor to the figure's unit."""

    scenario: str
    fields: tuple[str, ...]
    profile: str | None = None
    factor: float = 1


_CPU = ("worker_cpu_ms_per_job", "pg_cpu_ms_per_job")
SOURCES = {
    "drain": Source("drain", ("per_s",)),
    "cpu": Source("drain", _CPU, factor=1_000),
    "bulk": Source("enqueue", ("per_s",)),
    "enqueue": Source("enqueue", ("per_s",)),
    "latency": Source("latency", ("p50_ms",)),
    "latency_p50": Source("latency", ("p50_ms",)),
    "latency_p99": Source("latency", ("p99_ms",)),
    "delayed": Source("delayed", ("p99_ms",)),
    "delayed_p50": Source("delayed", ("p50_ms",)),
    "delayed_p99": Source("delayed", ("p99_ms",)),
    "delayed_tuned": Source("delayed", ("p99_ms",), "poll"),
    "pinned": Source("pinned", ("ratio",)),
    "pinned_first": Source("pinned", ("first_per_s",)),
    "pinned_last": Source("pinned", ("last_per_s",)),
    "crash": Source("crash", ("all_s",), "best"),
    "crash_quick": Source("crash", ("all_s",), "quick"),
}


def peer_values(figure: str, file: Path = LIST) -> dict[str, float]:
    """Return the median over the runs of each peer that was measured, by the peer's name.

    Names are those of ``peers/systems.py``: procrastinate, pgqueuer, awa, awa256, oban, absurd, graphile, pgboss, and
    celery, dramatiq, arq, which are not durable. Figures: ``drain``, ``bulk`` = ``enqueue``, ``pinned_first``,
    ``pinned_last`` (jobs/s); ``pinned`` (last ÷ first window); ``cpu`` (µs per job, worker and server together);
    ``latency`` = ``latency_p50``, ``latency_p99``, ``delayed`` = ``delayed_p99``, ``delayed_p50`` and
    ``delayed_tuned`` (p99 with polling at 100 ms or less) in ms; ``crash`` and ``crash_quick`` (s until all 50 jobs
    ran again; a peer that never got there is left out). Empty for any other figure, and when there are no results.
    """
    source = SOURCES.get(figure)
    if source is None:
        return {}
    found = {}
    for (system, scenario, profile, _), rows in newest(load(file)).items():
        if (scenario, profile) == (source.scenario, source.profile) and system not in OURS:
            value = middle(rows, *source.fields)
            if value is not None:
                found[system] = value * source.factor
    return found
