"""The same drain beside tables full of other jobs, each kind of fullness built once and copied for every run."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from attrs import frozen
from ground.bench import Bench, Outcome
from ground.draining import drained
from ground.filling import fill, fill_finished
from ground.numbers import median, ratio

JOBS, RUNS = 200_000, 3
TERMINAL, PENDING = 10_000_000, 1_000_000
BYTES_PER_JOB = 2_000
"""Of disk: a finished job with three events and its part of the indexes, in the template or in its copy, and room."""


@frozen
class Filling:
    """What is in the tables: how it gets there, and how many of it."""

    build: Callable[[str, int], None]
    size: int = PENDING


def _future(dsn: str, size: int) -> None:
    """Let jobs become due tomorrow, one by one over a day."""
    day = timedelta(days=1)
    fill(dsn, size, run_at=datetime.now(UTC) + day, spread=day / size)


FILLINGS = {
    "terminal": Filling(fill_finished, TERMINAL),
    "pending_queue": Filling(lambda dsn, size: fill(dsn, size, queue="other")),
    "pending_future": Filling(_future),
    "pending_priority": Filling(lambda dsn, size: fill(dsn, size, priority=1)),
    "pending_type": Filling(lambda dsn, size: fill(dsn, size, type="unhandled")),
}


def beside(name: str) -> Callable[[Bench], Outcome]:
    """Return the measurement of one kind of fullness, over the empty table."""
    return lambda bench: _measured(bench, name)


def _measured(bench: Bench, name: str) -> Outcome:
    filling, jobs = FILLINGS[name], bench.options.jobs or JOBS
    size = bench.options.size or filling.size
    _check_room(bench, size)
    full = bench.template((name, size), lambda dsn: filling.build(dsn, size))
    bench.say(f"they take {bench.server.bytes_of(full) / size:.0f} bytes each")
    rates: dict[str | None, list[float]] = {None: [], full: []}
    for template in bench.turns(tuple(rates), RUNS):
        with bench.database(template) as dsn:
            rates[template].append(drained(dsn, jobs).per_second)
    return Outcome(
        value=ratio(median(rates[full]), median(rates[None])),
        unit="x empty",
        details={
            "full_per_s": median(rates[full]),
            "empty_per_s": median(rates[None]),
            "size": size,
            "jobs": jobs,
            "full": rates[full],
            "empty": rates[None],
        },
    )


def _check_room(bench: Bench, size: int) -> None:
    """Stop before the disk is full rather than then."""
    free, needed = bench.server.free_bytes(), 2 * size * BYTES_PER_JOB
    bench.say(f"{size} jobs take up to {needed / 1e9:.0f} GB with their copy")
    if free is not None and free < needed:
        raise RuntimeError(f"only {free / 1e9:.0f} GB are free; SIZE=n takes fewer jobs")
