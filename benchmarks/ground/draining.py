"""One drain: jobs preloaded, workers that wait for the signal, and what it took by the history and by /proc."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import uvloop
from attrs import frozen

from fencepost import Fencepost

from .asking import ask, until
from .filling import settle, submit
from .proc import cpu_seconds, server_process
from .processes import QUEUE, SLOTS, Process, until_idle, worker

EVENTS_PER_JOB = 2
"""``claimed`` and ``succeeded``, after ``enqueued``."""
RATE = """
SELECT count(*) FILTER (WHERE name = 'succeeded') / extract(epoch FROM
    max(at) FILTER (WHERE name = 'succeeded') - min(at) FILTER (WHERE name = 'claimed'))
FROM fencepost.job_events WHERE job_id > %s
"""
LENGTH = "SELECT last_value FROM fencepost.positions"
UNFINISHED = "EXISTS (SELECT FROM fencepost.jobs WHERE job_id > {after} AND state IN ('pending', 'running'))"


@frozen
class Drained:
    """Jobs per second, from the first ``claimed`` to the last ``succeeded``; microseconds of CPU per job."""

    per_second: float
    worker_us: float
    server_us: float


def drained(dsn: str, jobs: int, *, workers: int = 1, queues: Sequence[str] = (QUEUE,)) -> Drained:
    """Submit so many jobs beside whatever is there and let workers drain them."""
    after = submit(dsn, jobs, queues)
    settle(dsn)
    pause(dsn, queues)  # the workers are up and idle before the measurement begins
    with ExitStack() as stack:
        slots = ",".join(f"{queue}:{-(-SLOTS // len(queues))}" for queue in queues)
        processes = [stack.enter_context(worker(dsn, queues=slots)) for _ in range(workers)]
        until_idle(dsn, processes[0], workers)
        used = _used_from_here(dsn, processes)
        ending = ask(dsn, LENGTH) + EVENTS_PER_JOB * jobs
        resume(dsn, queues)
        until_drained(dsn, processes[0], after, ending)
        worker_us, server_us = (seconds / jobs * 1e6 for seconds in used())
    return Drained(float(ask(dsn, RATE, [after])), worker_us, server_us)


def until_drained(dsn: str, process: Process, after: int, ending: int) -> None:
    """Wait until every job above ``after`` has ended; the length of the log says cheaply when to look."""
    until(dsn, f"(SELECT last_value >= {ending} FROM fencepost.positions)", alive=process.alive)
    until_ended(dsn, process, after)


def until_ended(dsn: str, process: Process, after: int = 0) -> None:
    """Wait until every job above ``after`` has ended."""
    until(dsn, f"NOT {UNFINISHED.format(after=after)}", alive=process.alive)


def pause(dsn: str, queues: Sequence[str] = (QUEUE,)) -> None:
    """Stop claims, as an operator would."""
    uvloop.run(_each(dsn, queues, "pause"))


def resume(dsn: str, queues: Sequence[str] = (QUEUE,)) -> None:
    """Let claims go on, and wake the workers."""
    uvloop.run(_each(dsn, queues, "resume"))


async def _each(dsn: str, queues: Sequence[str], operation: str) -> None:
    async with Fencepost(dsn) as app:
        for queue in queues:
            await getattr(app, operation)(queue)


def _used_from_here(dsn: str, processes: Sequence[Process]) -> Callable[[], tuple[float, float]]:
    """Return what tells the CPU seconds that workers and server have used since now."""
    server = server_process(dsn)

    def now() -> tuple[float, float]:
        return sum(cpu_seconds(process.pid) for process in processes), cpu_seconds(server, reaped=True)

    before = now()
    return lambda: (now()[0] - before[0], now()[1] - before[1])
