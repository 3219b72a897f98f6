"""Every figure, in one place."""

from collections.abc import Callable, Mapping

from attrs import frozen
from ground.bench import Bench, Outcome

from . import (
    bulk,
    checker,
    drain,
    firing,
    growth,
    http,
    latency,
    pinned,
    recovery,
    runtime_overhead,
    sleepers,
    store,
    tables,
    wakeups,
)


@frozen
class Figure:
    """How a figure is measured, what it should come to, and what ``peer_figures`` calls it where that differs."""

    measure: Callable[[Bench], Outcome]
    goal: str
    among_peers: str | None = None


BESIDE = "≥ 0.8 × the empty table"

FIGURES: Mapping[str, Figure] = {
    "drain": Figure(drain.drain, "≥ 1.0 × the floor"),
    "cpu": Figure(drain.cpu, "≤ 38 us"),
    "pinned": Figure(pinned.pinned, "≥ 0.9 × unpinned, in the last 5 s of a minute"),
    "pinned_latency": Figure(pinned.pinned_latency, "≤ 2 × unpinned, p99 at half load"),
    "terminal": Figure(tables.beside("terminal"), BESIDE),
    "pending_queue": Figure(tables.beside("pending_queue"), BESIDE),
    "pending_future": Figure(tables.beside("pending_future"), BESIDE),
    "pending_priority": Figure(tables.beside("pending_priority"), BESIDE),
    "pending_type": Figure(tables.beside("pending_type"), "reported"),
    "bulk": Figure(bulk.bulk, "≥ 1.1 × the fastest peer's bulk call"),
    "http": Figure(http.http, "≥ 3,000 jobs/s"),
    "latency": Figure(latency.latency, "p50 ≤ 1.2 ms, p99 ≤ 3 ms"),
    "delayed": Figure(latency.delayed, "p99 ≤ 5 ms"),
    "wakeups": Figure(wakeups.wakeups, "≥ 0.95 × without"),
    "recovery": Figure(recovery.recovery, "≤ 34 s by default, ≤ 4 s with the fastest settings", "crash"),
    "sleepers": Figure(sleepers.sleepers, "≤ 5 statements per lease third, ≤ 150 MB"),
    "firing_burst": Figure(firing.firing_burst, "≤ 5 s for 10,000 schedules"),
    "firing_lateness": Figure(firing.firing_lateness, "p99 ≤ 50 ms with 1,000 a minute"),
    "growth": Figure(growth.growth, "nothing superlinear"),
    "store": Figure(store.store, "reported"),
    "checker": Figure(checker.checker, "≥ 150,000 events/s"),
    "runtime_overhead": Figure(runtime_overhead.runtime_overhead, "reported"),
}
