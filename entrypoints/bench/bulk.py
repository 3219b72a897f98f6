"""Many jobs at once: how fast they are accepted, and how fast one worker process runs them."""

import time

from attrs import frozen

from .ground import BenchFailed, Figure, Ground

QUEUE = "bulk"
CALL, WARM_UP = 5_000, 100
SLOTS = 1_000
EVENTS_PER_JOB = 2
"""``claimed`` and ``succeeded``, after ``enqueued``."""


@frozen
class Filled:
    """Jobs that wait in the queue, by their first and last id, and the seconds their submits took."""

    first: int
    last: int
    jobs: int
    seconds: float
    cut: bool


async def filled(ground: Ground) -> Filled:
    """Submit as many jobs as planned through ``submit_many``, or as many as can be in time."""
    noop, wanted = ground.noop.options(queue=QUEUE), ground.plan.jobs
    await ground.app.submit_many([ground.noop.request(number) for number in range(WARM_UP)])
    jobs = first = last = 0
    began = time.perf_counter()
    while jobs < wanted and time.perf_counter() - began < ground.plan.seconds:
        numbers = range(jobs, min(jobs + CALL, wanted))
        answers = await ground.app.submit_many([noop.request(number) for number in numbers])
        first, last = first or answers[0].job_id, answers[-1].job_id
        jobs += len(answers)
    return Filled(first, last, jobs, time.perf_counter() - began, jobs < wanted)


def submit(found: Filled) -> Figure:
    """Return jobs accepted a second, from the first request's making to the last call's return."""
    return Figure(
        name="submit",
        value=found.jobs / found.seconds,
        unit="jobs/s",
        note=f"{found.jobs:,} jobs, {CALL:,} a call, from one process",
        details={"jobs": found.jobs, "jobs_per_call": CALL},
        cut=found.cut,
    )


async def drain(ground: Ground, found: Filled) -> Figure:
    """Return jobs run a second by one worker process, from the first ``claimed`` to the last ``succeeded``."""
    await ground.app.pause(QUEUE)  # the worker is up and idle before the measurement begins
    async with ground.worker(QUEUE, SLOTS):
        ending = await ground.questions.length() + EVENTS_PER_JOB * found.jobs

        async def done() -> bool:
            # The log's length says cheaply when to look.
            grown = await ground.questions.length() >= ending
            return grown and not await ground.questions.unfinished(found.first, found.last)

        await ground.app.resume(QUEUE)
        ended = await ground.until(done, ground.plan.seconds)
        jobs, seconds = await ground.questions.drained(found.first, found.last)
    if not jobs:
        raise BenchFailed(f"not one job ended within {ground.plan.seconds} s: give it more --seconds")
    return Figure(
        name="drain",
        value=jobs / seconds,
        unit="jobs/s",
        note=f"{jobs:,} no-op jobs, one worker process, {SLOTS:,} slots",
        details={"jobs": jobs},
        cut=not ended,
    )
